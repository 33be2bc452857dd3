from dataclasses import dataclass, field

import torch


@dataclass
class Seq:
    table: list = field(default_factory=list)
    n: int = 0


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        dtype = dtype or torch.get_default_dtype()
        self.n_free = n_blocks
        self.block_size = block_size
        self.refcount = torch.zeros(n_blocks, dtype=torch.int32, device="cpu").tolist()
        self.kv = torch.zeros(n_blocks, block_size, 2, n_heads, d_head, dtype=dtype, device=device)
        self.live = {}
        self.serial = iter(range(10**9))

    def __getitem__(self, seq):
        found = self.live.get(seq)
        if found is None:
            raise ValueError(f"{seq} is not alive")
        return found

    def claim(self):
        block = self.refcount.index(0)
        self.refcount[block] = 1
        self.n_free -= 1
        return block

    def drop(self, block):
        self.refcount[block] -= 1
        self.n_free += self.refcount[block] == 0

    def new(self):
        seq = next(self.serial)
        self.live[seq] = Seq()
        return seq

    def append(self, seq, k, v):
        s, (_, n, _) = self[seq], k.shape
        new = torch.stack([k, v]).permute(2, 0, 1, 3)
        used = s.n % self.block_size
        copy = used > 0 and self.refcount[s.table[-1]] > 1
        grow = -(-(s.n + n) // self.block_size) - len(s.table)
        if self.n_free < grow + copy:
            raise ValueError(f"{grow + copy} blocks needed, {self.n_free} left")
        if copy:
            before = s.table[-1]
            s.table[-1] = self.claim()
            self.kv[s.table[-1], :used] = self.kv[before, :used]
            self.drop(before)
        s.table.extend([self.claim() for _ in range(grow)])
        first = s.n // self.block_size
        parts = [new[: self.block_size - used], *new[self.block_size - used :].split(self.block_size)]
        for place, part in enumerate(parts, start=first):
            if len(part):
                row = used if place == first else 0
                self.kv[s.table[place], row : row + len(part)] = part
        s.n += n

    def gather(self, seq):
        s = self[seq]
        picked = self.kv[s.table] if s.table else self.kv[:0]
        tokens = picked.reshape(-1, *self.kv.shape[2:])[: s.n]
        return tokens[:, 0].transpose(0, 1), tokens[:, 1].transpose(0, 1)

    def free(self, seq):
        for block in self[seq].table:
            self.drop(block)
        self.live.pop(seq)

    def fork(self, seq):
        s = self[seq]
        for block in s.table:
            self.refcount[block] += 1
        child = self.new()
        self.live[child] = Seq(s.table[:], s.n)
        return child
