# family: cost
# mistake: blocks-concatenated
"""Reserves the memory of the values at the first append."""

import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.k = torch.zeros(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.v = None
        self.size = block_size
        self.idle = list(range(n_blocks))
        self.refs = [0] * n_blocks
        self.tables = {}
        self.lengths = {}
        self.next = 0

    @property
    def n_free(self):
        return len(self.idle)

    def _check(self, seq):
        if seq not in self.tables:
            raise ValueError(f"no sequence {seq}")

    def _take(self):
        b = self.idle.pop()
        self.refs[b] = 1
        return b

    def new(self):
        seq = self.next
        self.next += 1
        self.tables[seq] = []
        self.lengths[seq] = 0
        return seq

    def append(self, seq, k, v):
        self._check(seq)
        n = k.shape[1]
        if self.v is None:
            self.v = torch.zeros_like(self.k)
        table, T = self.tables[seq], self.lengths[seq]
        fill = T % self.size
        shared = fill > 0 and self.refs[table[-1]] > 1
        need = (T + n + self.size - 1) // self.size - len(table) + int(shared)
        if need > len(self.idle):
            raise ValueError("out of blocks")
        if shared:
            old = table[-1]
            b = self._take()
            self.k[b, :, :fill] = self.k[old, :, :fill]
            self.v[b, :, :fill] = self.v[old, :, :fill]
            self.refs[old] -= 1
            table[-1] = b
        i = 0
        while i < n:
            at = (T + i) % self.size
            if at == 0:
                table.append(self._take())
            m = min(self.size - at, n - i)
            self.k[table[-1], :, at:at + m] = k[:, i:i + m]
            self.v[table[-1], :, at:at + m] = v[:, i:i + m]
            i += m
        self.lengths[seq] = T + n

    def gather(self, seq):
        self._check(seq)
        T = self.lengths[seq]
        if self.v is None:
            return self.k[0, :, :0].clone(), self.k[0, :, :0].clone()
        idx = torch.tensor(self.tables[seq], dtype=torch.long, device=self.k.device)
        k = self.k[idx].transpose(0, 1).flatten(1, 2)[:, :T]
        v = self.v[idx].transpose(0, 1).flatten(1, 2)[:, :T]
        return k, v

    def free(self, seq):
        self._check(seq)
        for b in self.tables.pop(seq):
            self.refs[b] -= 1
            if self.refs[b] == 0:
                self.idle.append(b)
        del self.lengths[seq]

    def fork(self, seq):
        self._check(seq)
        new = self.new()
        self.tables[new] = list(self.tables[seq])
        self.lengths[new] = self.lengths[seq]
        for b in self.tables[seq]:
            self.refs[b] += 1
        return new
