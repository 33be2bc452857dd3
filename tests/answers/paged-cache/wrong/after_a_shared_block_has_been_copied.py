# family: core
# mistake: old-block-keeps-its-count
# After a shared block has been copied the number of its holders is not lowered.
import torch
from torch import Tensor


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None) -> None:
        self.block_size = block_size
        self.k = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.v = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.holders = [0] * n_blocks
        self.unused = list(range(n_blocks - 1, -1, -1))
        self.tables: dict[int, list[int]] = {}
        self.lengths: dict[int, int] = {}
        self.next_seq = 0

    @property
    def n_free(self) -> int:
        return len(self.unused)

    def _check(self, seq):
        if seq not in self.tables:
            raise ValueError(f"there is no sequence {seq}")

    def _take(self):
        block = self.unused.pop()
        self.holders[block] = 1
        return block

    def _start(self, table, length):
        seq = self.next_seq
        self.next_seq += 1
        self.tables[seq], self.lengths[seq] = table, length
        return seq

    def new(self) -> int:
        return self._start([], 0)

    @torch.no_grad()
    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        self._check(seq)
        table, length, size = self.tables[seq], self.lengths[seq], self.block_size
        n = k.shape[1]
        used = length % size
        copy = used > 0 and self.holders[table[-1]] > 1
        more = -(-(length + n) // size) - len(table)
        if more + copy > self.n_free:
            raise ValueError("too few free blocks")
        if copy:
            old, block = table[-1], self._take()
            self.k[block, :, :used] = self.k[old, :, :used]
            self.v[block, :, :used] = self.v[old, :, :used]
            table[-1] = block  # wrong
        for _ in range(more):
            table.append(self._take())
        done = 0
        while done < n:
            block, place = table[(length + done) // size], (length + done) % size
            step = min(size - place, n - done)
            self.k[block, :, place : place + step] = k[:, done : done + step]
            self.v[block, :, place : place + step] = v[:, done : done + step]
            done += step
        self.lengths[seq] = length + n

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        self._check(seq)
        T = self.lengths[seq]
        out = []
        for pool in (self.k, self.v):
            result = pool.new_empty(pool.shape[1], T, pool.shape[3])
            for i, block in enumerate(self.tables[seq]):
                a, b = i * self.block_size, min(T, (i + 1) * self.block_size)
                result[:, a:b] = pool[block, :, : b - a]
            out.append(result)
        return out[0], out[1]

    def free(self, seq: int) -> None:
        self._check(seq)
        for block in self.tables.pop(seq):
            self.holders[block] -= 1
            if self.holders[block] == 0:
                self.unused.append(block)
        del self.lengths[seq]

    def fork(self, seq: int) -> int:
        self._check(seq)
        for block in self.tables[seq]:
            self.holders[block] += 1
        return self._start(list(self.tables[seq]), self.lengths[seq])
