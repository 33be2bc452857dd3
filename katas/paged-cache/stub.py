"""A cache whose memory is given out in blocks, which sequences share until one of them writes."""

import torch
from torch import Tensor


class PagedKVCache:
    """Keys and values of many sequences in n_blocks blocks of block_size tokens.

    n_blocks, block_size  how much is reserved, for keys and values each
    n_heads, d_head       sizes of a token
    dtype, device         where and as what; None = as torch.empty does

    Attribute: n_free, an int, the number of blocks that no sequence holds.
    Sequences are numbered 0, 1, 2, ... as new and fork make them. A number that is not there, or no longer, raises
    ValueError in every method.
    """

    def __init__(
        self,
        n_blocks: int,
        block_size: int,
        n_heads: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        raise NotImplementedError("your turn: reserve the blocks")

    def new(self) -> int:
        """Begin a sequence without tokens; returns its number."""
        raise NotImplementedError("your turn: an empty table")

    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        """Store the keys and values of n more tokens of a sequence, each (H, n, d_head).

        Takes blocks only when they are needed. A block that others hold as well is copied before it is written.
        Too few free blocks raise ValueError and change nothing.
        """
        raise NotImplementedError("your turn: which blocks, and whose are they?")

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        """Return the keys and values of a sequence, each (H, T, d_head), oldest first; later calls leave them alone."""
        raise NotImplementedError("your turn: block by block")

    def free(self, seq: int) -> None:
        """Forget a sequence; blocks that nobody else holds are free again."""
        raise NotImplementedError("your turn: give back")

    def fork(self, seq: int) -> int:
        """Begin a sequence with the tokens of another one, without copying any; returns its number."""
        raise NotImplementedError("your turn: share the blocks")
