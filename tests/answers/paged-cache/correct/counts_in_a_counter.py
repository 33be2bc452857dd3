from collections import Counter

import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.k = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.v = torch.empty_like(self.k)
        self.bs = block_size
        self.pool = set(range(n_blocks))
        self.refs = Counter()
        self.seqs = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.pool)

    def _get(self, seq):
        try:
            return self.seqs[seq]
        except KeyError:
            raise ValueError(f"unknown sequence {seq}") from None

    def _register(self, blocks, length):
        number, self.next_id = self.next_id, self.next_id + 1
        self.seqs[number] = {"blocks": blocks, "len": length}
        self.refs.update(blocks)
        return number

    def new(self):
        return self._register([], 0)

    def fork(self, seq):
        s = self._get(seq)
        return self._register(s["blocks"][:], s["len"])

    def free(self, seq):
        s = self._get(seq)
        del self.seqs[seq]
        for b in s["blocks"]:
            self.refs[b] -= 1
            if not self.refs[b]:
                self.pool.add(b)

    def append(self, seq, k, v):
        s = self._get(seq)
        n, length, blocks = k.shape[1], s["len"], s["blocks"]
        cow = bool(length % self.bs) and self.refs[blocks[-1]] > 1
        need = -(-(length + n) // self.bs) - len(blocks) + cow
        if need > len(self.pool):
            raise ValueError("out of blocks")
        if cow:
            b = self.pool.pop()
            used = length % self.bs
            self.k[b, :, :used] = self.k[blocks[-1], :, :used]
            self.v[b, :, :used] = self.v[blocks[-1], :, :used]
            self.refs[blocks[-1]] -= 1
            self.refs[b] = 1
            blocks[-1] = b
        for i in range(n):
            t = length + i
            if t % self.bs == 0:
                b = self.pool.pop()
                self.refs[b] = 1
                blocks.append(b)
            self.k[blocks[-1], :, t % self.bs] = k[:, i]
            self.v[blocks[-1], :, t % self.bs] = v[:, i]
        s["len"] += n

    def gather(self, seq):
        s = self._get(seq)
        if not s["blocks"]:
            return self.k[0, :, :0], self.v[0, :, :0]
        return tuple(torch.cat([x[b] for b in s["blocks"]], dim=1)[:, : s["len"]] for x in (self.k, self.v))
