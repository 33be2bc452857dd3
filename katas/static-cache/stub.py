"""A cache of keys and values whose memory is reserved once."""

import torch
from torch import Tensor


class StaticKVCache:
    """Keys and values of up to max_len tokens.

    batch, n_heads, max_len, d_head  sizes of what is reserved, for keys and values each
    dtype, device                    where and as what; None = as torch.empty does

    Attribute: length, an int, the number of tokens held; 0 at the start.
    """

    def __init__(
        self,
        batch: int,
        n_heads: int,
        max_len: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        raise NotImplementedError("your turn: reserve the memory")

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the keys and values of n new tokens, each (B, H, n, d_head).

        Returns (k_all, v_all), each (B, H, length, d_head): all tokens so far, oldest first.
        More tokens than there is room for raise ValueError and change nothing.
        """
        raise NotImplementedError("your turn: write the new tokens into their places")

    def reset(self) -> None:
        """Forget all tokens; the memory stays."""
        raise NotImplementedError("your turn: begin afresh")
