"""A cache whose memory is given out in blocks, which sequences share until one of them writes.

    token t of a sequence:  block table[t // block_size],  row t % block_size

Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with PagedAttention"
(arXiv:2309.06180), sections 4.2 and 4.4.
"""

import math

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
        self.block_size = block_size
        sizes = (n_blocks, block_size, n_heads, d_head)
        self.keys = torch.zeros(sizes, dtype=dtype, device=device)  # (n_blocks, block_size, H, d_head)
        self.values = torch.zeros_like(self.keys)  # (n_blocks, block_size, H, d_head)
        self.unused = list(range(n_blocks))
        self.holders = [0] * n_blocks
        self.tables: dict[int, list[int]] = {}
        self.lengths: dict[int, int] = {}
        self.made = 0

    @property
    def n_free(self) -> int:
        """The number of blocks that no sequence holds."""
        return len(self.unused)

    def new(self) -> int:
        """Begin a sequence without tokens; returns its number."""
        return self.begin([], 0)

    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        """Store the keys and values of n more tokens of a sequence, each (H, n, d_head).

        Takes blocks only when they are needed. A block that others hold as well is copied before it is written.
        Too few free blocks raise ValueError and change nothing.
        """
        table, length = self.table(seq), self.lengths[seq]
        end = length + k.size(1)
        missing = math.ceil(end / self.block_size) - len(table)
        shared = length % self.block_size > 0 and self.holders[table[-1]] > 1
        if missing + shared > self.n_free:
            raise ValueError(f"{missing + shared} blocks are needed, {self.n_free} are free")

        if shared:
            old, copy = table[-1], self.take()
            self.keys[copy] = self.keys[old]
            self.values[copy] = self.values[old]
            self.holders[old] -= 1
            table[-1] = copy
        table.extend(self.take() for _ in range(missing))

        written = 0
        while length < end:
            place, row = divmod(length, self.block_size)
            count = min(self.block_size - row, end - length)
            block, chunk = table[place], slice(written, written + count)
            self.keys[block, row : row + count] = k[:, chunk].transpose(0, 1)
            self.values[block, row : row + count] = v[:, chunk].transpose(0, 1)
            length, written = length + count, written + count
        self.lengths[seq] = end

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        """Return the keys and values of a sequence, each (H, T, d_head), oldest first; later calls leave them alone."""
        blocks = torch.tensor(self.table(seq), dtype=torch.int64, device=self.keys.device)  # (blocks,)
        length = self.lengths[seq]
        k = self.keys[blocks].flatten(0, 1)[:length].transpose(0, 1)  # (H, length, d_head)
        v = self.values[blocks].flatten(0, 1)[:length].transpose(0, 1)  # (H, length, d_head)
        return k, v

    def free(self, seq: int) -> None:
        """Forget a sequence; blocks that nobody else holds are free again."""
        for block in self.table(seq):
            self.holders[block] -= 1
            if self.holders[block] == 0:
                self.unused.append(block)
        del self.tables[seq], self.lengths[seq]

    def fork(self, seq: int) -> int:
        """Begin a sequence with the tokens of another one, without copying any; returns its number."""
        return self.begin(self.table(seq), self.lengths[seq])

    def begin(self, blocks: list[int], length: int) -> int:
        """Number a sequence that holds these blocks."""
        seq = self.made
        self.made += 1
        self.tables[seq], self.lengths[seq] = list(blocks), length
        for block in blocks:
            self.holders[block] += 1
        return seq

    def table(self, seq: int) -> list[int]:
        """The blocks of a sequence that is there."""
        if seq not in self.tables:
            raise ValueError(f"there is no sequence {seq}")
        return self.tables[seq]

    def take(self) -> int:
        """Take a free block."""
        block = self.unused.pop()
        self.holders[block] = 1
        return block
