# family: core
# mistake: gathered-is-a-view
# Gather returns a view of the pool where the sequence has one block, so it changes when the block is used anew.
from __future__ import annotations

from collections import Counter

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
        shape = (n_heads, n_blocks * block_size, d_head)
        self._keys = torch.empty(shape, dtype=dtype, device=device)
        self._values = torch.empty(shape, dtype=dtype, device=device)
        self._size = block_size
        self._stack = list(reversed(range(n_blocks)))
        self._count: Counter[int] = Counter()
        self._table: list[list[int] | None] = []
        self._len: list[int] = []

    @property
    def n_free(self) -> int:
        return len(self._stack)

    def _blocks(self, seq: int) -> list[int]:
        table = self._table[seq] if 0 <= seq < len(self._table) else None
        if table is None:
            raise ValueError(f"no sequence has the number {seq}")
        return table

    def _pop(self) -> int:
        block = self._stack.pop()
        self._count[block] = 1
        return block

    def _release(self, block: int) -> None:
        self._count[block] -= 1
        if not self._count[block]:
            self._stack.append(block)

    def new(self) -> int:
        self._table.append([])
        self._len.append(0)
        return len(self._table) - 1

    @torch.no_grad()
    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        table = self._blocks(seq)
        size, old, n = self._size, self._len[seq], k.size(1)
        partial = old % size
        unshare = int(partial != 0 and self._count[table[-1]] > 1)
        fresh = (old + n + size - 1) // size - len(table)
        if fresh + unshare > len(self._stack):
            raise ValueError("the cache is full")
        if unshare:
            source, target = table[-1], self._pop()
            for pool in (self._keys, self._values):
                pool[:, target * size : target * size + partial] = pool[:, source * size : source * size + partial]
            self._release(source)
            table[-1] = target
        table.extend(self._pop() for _ in range(fresh))
        for i in range(old // size, len(table)):
            lo, hi = max(old, i * size), min(old + n, (i + 1) * size)
            at = table[i] * size - i * size
            self._keys[:, lo + at : hi + at] = k[:, lo - old : hi - old]
            self._values[:, lo + at : hi + at] = v[:, lo - old : hi - old]
        self._len[seq] = old + n

    def _read(self, pool: Tensor, table: list[int], length: int) -> Tensor:
        size = self._size
        parts = [pool[:, b * size : b * size + min(size, length - i * size)] for i, b in enumerate(table)]
        if not parts:
            return pool[:, :0].clone()
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)  # wrong

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        table, length = self._blocks(seq), self._len[seq]
        return self._read(self._keys, table, length), self._read(self._values, table, length)

    def free(self, seq: int) -> None:
        for block in self._blocks(seq):
            self._release(block)
        self._table[seq] = None

    def fork(self, seq: int) -> int:
        table = self._blocks(seq)
        self._count.update(table)
        self._table.append(list(table))
        self._len.append(self._len[seq])
        return len(self._table) - 1
