# family: core
# mistake: none
# A fork has the very same table (list) as its parent, not a copy of it.
import torch
from collections import Counter


class _Seq:
    def __init__(self, blocks, length):
        self.blocks = blocks
        self.length = length


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.block_size = block_size
        self.store = torch.empty(2, n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.unused = list(range(n_blocks - 1, -1, -1))
        self.holders = Counter()
        self.seqs = {}
        self.counter = 0
        self.n_free = n_blocks

    def _get(self, seq):
        try:
            return self.seqs[seq]
        except KeyError:
            raise ValueError(f"unknown sequence {seq}") from None

    def _alloc(self):
        b = self.unused.pop()
        self.holders[b] = 1
        self.n_free -= 1
        return b

    def _release(self, b):
        self.holders[b] -= 1
        if self.holders[b] == 0:
            self.unused.append(b)
            self.n_free += 1

    def _register(self, s):
        num = self.counter
        self.counter += 1
        self.seqs[num] = s
        return num

    def new(self):
        return self._register(_Seq([], 0))

    def append(self, seq, k, v):
        s = self._get(seq)
        bs, n = self.block_size, k.size(1)
        fill = s.length % bs
        copy = fill > 0 and self.holders[s.blocks[-1]] > 1
        need = (s.length + n + bs - 1) // bs - len(s.blocks) + (1 if copy else 0)
        if need > self.n_free:
            raise ValueError("cache is full")
        new = torch.stack([k, v]).detach()
        with torch.no_grad():
            if copy:
                old = s.blocks[-1]
                fresh = self._alloc()
                self.store[:, fresh, :, :fill] = self.store[:, old, :, :fill]
                s.blocks[-1] = fresh
                self._release(old)
            i = 0
            while i < n:
                off = s.length % bs
                if off == 0:
                    s.blocks.append(self._alloc())
                c = min(n - i, bs - off)
                self.store[:, s.blocks[-1], :, off:off + c] = new[:, :, i:i + c]
                i += c
                s.length += c

    def gather(self, seq):
        s = self._get(seq)
        bs = self.block_size
        pieces = [self.store[:, b, :, : min(bs, s.length - j * bs)] for j, b in enumerate(s.blocks)]
        if not pieces:
            pieces = [self.store.new_empty(2, self.store.size(2), 0, self.store.size(4))]
        k, v = torch.cat(pieces, dim=2)
        return k, v

    def free(self, seq):
        s = self._get(seq)
        del self.seqs[seq]
        for b in s.blocks:
            self._release(b)

    def fork(self, seq):
        s = self._get(seq)
        for b in s.blocks:
            self.holders[b] += 1
        return self._register(_Seq(s.blocks, s.length))  # wrong
