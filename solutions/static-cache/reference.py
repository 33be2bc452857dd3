"""A cache of keys and values whose memory is reserved once.

    update t:  K[:, :, t:t+n] = k,  V[:, :, t:t+n] = v;  t += n;  returns K[:, :, :t], V[:, :, :t]

A step writes its own tokens and copies nothing else.
The usual layout before paging: Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
PagedAttention" (arXiv:2309.06180), section 3.1.
"""

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
        self.max_len = max_len
        self.length = 0
        self.keys = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)  # (B, H, max_len, d_head)
        self.values = torch.zeros_like(self.keys)  # (B, H, max_len, d_head)

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the keys and values of n new tokens, each (B, H, n, d_head).

        Returns (k_all, v_all), each (B, H, length, d_head): all tokens so far, oldest first.
        More tokens than there is room for raise ValueError and change nothing.
        """
        start = self.length
        end = start + k.size(2)
        if end > self.max_len:
            raise ValueError(f"{k.size(2)} more tokens do not fit: {start} of {self.max_len} places are taken")
        self.keys[:, :, start:end] = k
        self.values[:, :, start:end] = v
        self.length = end
        k_all = self.keys[:, :, :end]  # (B, H, T, d_head)
        v_all = self.values[:, :, :end]  # (B, H, T, d_head)
        return k_all, v_all

    def reset(self) -> None:
        """Forget all tokens; the memory stays."""
        self.length = 0  # what is left in the buffers lies behind the prefix
