# family: core
# mistake: old-block-keeps-its-count
# After copying a shared block the sequence still counts as a holder of the old one, which so never gets free.
import math

import torch
from torch import Tensor


class PagedKVCache:
    def __init__(
        self,
        n_blocks: int,
        block_size: int,
        n_heads: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        shape = (n_blocks, block_size, n_heads, d_head)
        with torch.inference_mode(False):
            self.keys = torch.zeros(shape, dtype=dtype, device=device)
            self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.block_size = block_size
        self.n_free = n_blocks
        self.unused = list(range(n_blocks))
        self.users = {}
        self.tables = {}
        self.lengths = {}
        self.created = 0

    def _known(self, seq):
        if seq not in self.tables:
            raise ValueError(f"unknown or freed sequence: {seq}")

    def _grab(self):
        block = self.unused.pop(0)
        self.users[block] = 1
        self.n_free -= 1
        return block

    def new(self) -> int:
        seq = self.created
        self.created = self.created + 1
        self.tables[seq], self.lengths[seq] = [], 0
        return seq

    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        self._known(seq)
        n = k.size(1)
        table = self.tables[seq]
        length = self.lengths[seq]
        inside = length % self.block_size
        must_copy = inside != 0 and self.users[table[-1]] > 1
        wanted = math.ceil((length + n) / self.block_size) - len(table)
        if must_copy:
            wanted += 1
        if wanted > self.n_free:
            raise ValueError("too few free blocks")

        if must_copy:
            source = table[-1]
            target = self._grab()
            self.keys[target, :inside].copy_(self.keys[source, :inside])
            self.values[target, :inside].copy_(self.values[source, :inside])
            table[-1] = target  # wrong
        new_k = k.detach().transpose(0, 1)
        new_v = v.detach().transpose(0, 1)
        written = 0
        while written < n:
            offset = (length + written) % self.block_size
            if offset == 0:
                table.append(self._grab())
            size = min(n - written, self.block_size - offset)
            self.keys[table[-1], offset : offset + size].copy_(new_k[written : written + size])
            self.values[table[-1], offset : offset + size].copy_(new_v[written : written + size])
            written += size
        self.lengths[seq] = length + n

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        self._known(seq)
        length = self.lengths[seq]
        index = torch.tensor(self.tables[seq], dtype=torch.int64, device=self.keys.device)
        k = self.keys.index_select(0, index).flatten(0, 1)[:length]
        v = self.values.index_select(0, index).flatten(0, 1)[:length]
        return k.transpose(0, 1), v.transpose(0, 1)

    def free(self, seq: int) -> None:
        self._known(seq)
        for block in self.tables.pop(seq):
            self.users[block] -= 1
            if self.users[block] == 0:
                self.unused.append(block)
                self.n_free += 1
        self.lengths.pop(seq)

    def fork(self, seq: int) -> int:
        self._known(seq)
        other = self.new()
        self.tables[other] = self.tables[seq][:]
        self.lengths[other] = self.lengths[seq]
        for block in self.tables[other]:
            self.users[block] += 1
        return other
