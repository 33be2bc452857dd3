# family: core
# mistake: none
# A fork shares the block table itself (the same list) with its origin, instead of a copy of it.
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
        with torch.inference_mode(False):
            self._k = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
            self._v = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.block_size = block_size
        self._free = list(range(n_blocks - 1, -1, -1))
        self._holders = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, int] = {}
        self._next = 0

    @property
    def n_free(self) -> int:
        return len(self._free)

    def _check(self, seq: int) -> None:
        if seq not in self._tables:
            raise ValueError(f"no sequence {seq}")

    def _take(self) -> int:
        block = self._free.pop()
        self._holders[block] = 1
        return block

    def _release(self, block: int) -> None:
        self._holders[block] -= 1
        if self._holders[block] == 0:
            self._free.append(block)

    def new(self) -> int:
        seq = self._next
        self._next += 1
        self._tables[seq] = []
        self._lengths[seq] = 0
        return seq

    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        self._check(seq)
        k, v = k.detach(), v.detach()
        table, length, n = self._tables[seq], self._lengths[seq], k.shape[1]
        used = length % self.block_size
        copy = used > 0 and self._holders[table[-1]] > 1
        needed = -(-(length + n) // self.block_size) - len(table) + int(copy)
        if needed > self.n_free:
            raise ValueError(f"{needed} blocks needed, {self.n_free} are free")
        if copy:
            old, fresh = table[-1], self._take()
            self._k[fresh, :, :used] = self._k[old, :, :used]
            self._v[fresh, :, :used] = self._v[old, :, :used]
            self._release(old)
            table[-1] = fresh
        done = 0
        while done < n:
            place = (length + done) % self.block_size
            if place == 0:
                table.append(self._take())
            count = min(self.block_size - place, n - done)
            self._k[table[-1], :, place : place + count] = k[:, done : done + count]
            self._v[table[-1], :, place : place + count] = v[:, done : done + count]
            done += count
        self._lengths[seq] = length + n

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        self._check(seq)
        table, length = self._tables[seq], self._lengths[seq]

        def read(memory: Tensor) -> Tensor:
            out = memory.new_empty(memory.shape[1], length, memory.shape[3])
            for i, block in enumerate(table):
                start = i * self.block_size
                count = min(self.block_size, length - start)
                out[:, start : start + count] = memory[block, :, :count]
            return out

        return read(self._k), read(self._v)

    def free(self, seq: int) -> None:
        self._check(seq)
        for block in self._tables.pop(seq):
            self._release(block)
        del self._lengths[seq]

    def fork(self, seq: int) -> int:
        self._check(seq)
        child = self.new()
        self._tables[child] = self._tables[seq]  # wrong
        self._lengths[child] = self._lengths[seq]
        for block in self._tables[seq]:
            self._holders[block] += 1
        return child
