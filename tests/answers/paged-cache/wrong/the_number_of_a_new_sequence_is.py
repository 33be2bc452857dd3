# family: core
# mistake: none
# The number of a new sequence is how many there are at present, so that numbers are used again after free.
from dataclasses import dataclass, field
from math import ceil

import torch


@dataclass
class _Seq:
    blocks: list = field(default_factory=list)
    length: int = 0


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        # keys and values in one piece of memory: (2, blocks, H, block_size, d)
        self.pool = torch.empty((2, n_blocks, n_heads, block_size, d_head), dtype=dtype, device=device)
        self.bs = block_size
        self.refs = [0] * n_blocks
        self.n_free = n_blocks
        self.seqs = {}

    def _get(self, seq) -> _Seq:
        try:
            return self.seqs[seq]
        except KeyError:
            raise ValueError(f"sequence {seq} is unknown") from None

    def _add(self, s: _Seq) -> int:
        number = len(self.seqs)  # wrong
        self.seqs[number] = s
        return number

    def _grab(self) -> int:
        b = self.refs.index(0)
        self.refs[b] = 1
        self.n_free -= 1
        return b

    def _drop(self, b):
        self.refs[b] -= 1
        if self.refs[b] == 0:
            self.n_free += 1

    def new(self):
        return self._add(_Seq())

    def append(self, seq, k, v):
        s = self._get(seq)
        n = k.shape[1]
        fill = s.length % self.bs
        must_copy = bool(fill) and self.refs[s.blocks[-1]] > 1
        extra = ceil((s.length + n) / self.bs) - len(s.blocks)
        if extra + int(must_copy) > self.n_free:
            raise ValueError("out of blocks")
        with torch.no_grad():
            if must_copy:
                shared = s.blocks.pop()
                own = self._grab()
                self.pool[:, own, :, :fill].copy_(self.pool[:, shared, :, :fill])
                s.blocks.append(own)
                self._drop(shared)
            s.blocks += [self._grab() for _ in range(extra)]
            i = 0
            while i < n:
                b, o = divmod(s.length, self.bs)
                c = min(n - i, self.bs - o)
                self.pool[0, s.blocks[b], :, o:o + c].copy_(k[:, i:i + c])
                self.pool[1, s.blocks[b], :, o:o + c].copy_(v[:, i:i + c])
                i += c
                s.length += c

    def gather(self, seq):
        s = self._get(seq)
        if not s.blocks:
            empty = self.pool[0, :1, :, :0].reshape(self.pool.shape[2], 0, self.pool.shape[-1])
            return empty.clone(), empty.clone()
        pieces = [self.pool[:, b] for b in s.blocks]
        pieces[-1] = pieces[-1][:, :, :s.length - (len(pieces) - 1) * self.bs]
        both = torch.cat(pieces, dim=2)
        return both[0], both[1]

    def free(self, seq):
        s = self._get(seq)
        for b in s.blocks:
            self._drop(b)
        del self.seqs[seq]

    def fork(self, seq):
        s = self._get(seq)
        for b in s.blocks:
            self.refs[b] += 1
        return self._add(_Seq(s.blocks.copy(), s.length))
