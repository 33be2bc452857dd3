# family: core
# mistake: old-block-keeps-its-count
# After the copy on write the old block's count is not decremented, the block is never free again.
import math
import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.bs, self.h, self.d = block_size, n_heads, d_head
        self.k = torch.zeros(n_heads, n_blocks, block_size, d_head, dtype=dtype, device=device)
        self.v = torch.zeros(n_heads, n_blocks, block_size, d_head, dtype=dtype, device=device)
        self.ref = [0 for _ in range(n_blocks)]
        self.stack = list(reversed(range(n_blocks)))
        self.table = {}
        self.size = {}
        self._next = 0

    @property
    def n_free(self) -> int:
        return sum(r == 0 for r in self.ref)

    def _require(self, seq):
        if seq not in self.table:
            raise ValueError("no such sequence")

    def _acquire(self):
        b = self.stack.pop()
        self.ref[b] += 1
        return b

    def new(self):
        seq, self._next = self._next, self._next + 1
        self.table[seq] = []
        self.size[seq] = 0
        return seq

    @torch.no_grad()
    def append(self, seq, k, v):
        self._require(seq)
        tab, T, n = self.table[seq], self.size[seq], k.shape[1]
        rest = T % self.bs
        shared = rest and self.ref[tab[-1]] > 1
        extra = math.ceil((T + n) / self.bs) - len(tab)
        if extra + (1 if shared else 0) > len(self.stack):
            raise ValueError("not enough free blocks")
        if shared:
            src, dst = tab[-1], self._acquire()
            self.k[:, dst, :rest].copy_(self.k[:, src, :rest])
            self.v[:, dst, :rest].copy_(self.v[:, src, :rest])
            tab[-1] = dst  # wrong
        tab.extend(self._acquire() for _ in range(extra))
        pos = T
        while pos < T + n:
            b, o = tab[pos // self.bs], pos % self.bs
            c = min(self.bs - o, T + n - pos)
            self.k[:, b, o:o + c] = k[:, pos - T:pos - T + c]
            self.v[:, b, o:o + c] = v[:, pos - T:pos - T + c]
            pos += c
        self.size[seq] = T + n

    def gather(self, seq):
        self._require(seq)
        T = self.size[seq]
        out_k = self.k.new_empty(self.h, T, self.d)
        out_v = self.v.new_empty(self.h, T, self.d)
        for i, b in enumerate(self.table[seq]):
            lo, hi = i * self.bs, min(T, (i + 1) * self.bs)
            out_k[:, lo:hi] = self.k[:, b, :hi - lo]
            out_v[:, lo:hi] = self.v[:, b, :hi - lo]
        return out_k, out_v

    def free(self, seq):
        self._require(seq)
        for b in self.table[seq]:
            self.ref[b] -= 1
            if not self.ref[b]:
                self.stack.append(b)
        del self.table[seq], self.size[seq]

    def fork(self, seq):
        self._require(seq)
        child = self.new()
        self.table[child] = self.table[seq].copy()
        self.size[child] = self.size[seq]
        for b in self.table[child]:
            self.ref[b] += 1
        return child
