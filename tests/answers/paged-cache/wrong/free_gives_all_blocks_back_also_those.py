# family: core
# mistake: shared-blocks-given-away
# Free gives all blocks back, also those that a fork still holds.
import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        shape = (n_blocks, n_heads, block_size, d_head)
        self.K = torch.empty(shape, dtype=dtype, device=device)
        self.V = torch.empty(shape, dtype=dtype, device=device)
        self.bs = block_size
        self.avail = list(range(n_blocks))[::-1]
        self.refs = [0] * n_blocks
        self.tables = {}
        self.lens = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.avail)

    def _check(self, seq):
        if seq not in self.tables:
            raise ValueError(f"no sequence {seq}")

    def _take(self):
        b = self.avail.pop()
        self.refs[b] = 1
        return b

    def new(self):
        s = self.next_id
        self.next_id += 1
        self.tables[s], self.lens[s] = [], 0
        return s

    @torch.no_grad()
    def append(self, seq, k, v):
        self._check(seq)
        table, t, n = self.tables[seq], self.lens[seq], k.shape[1]
        cow = t % self.bs != 0 and self.refs[table[-1]] > 1
        total = -(-(t + n) // self.bs)
        if total - len(table) + int(cow) > len(self.avail):
            raise ValueError("out of blocks")
        if cow:
            old, fill = table[-1], t % self.bs
            b = self._take()
            self.K[b, :, :fill] = self.K[old, :, :fill]
            self.V[b, :, :fill] = self.V[old, :, :fill]
            self.refs[old] -= 1
            table[-1] = b
        done = 0
        while done < n:
            off = (t + done) % self.bs
            if off == 0:
                table.append(self._take())
            c = min(self.bs - off, n - done)
            self.K[table[-1], :, off:off + c] = k[:, done:done + c]
            self.V[table[-1], :, off:off + c] = v[:, done:done + c]
            done += c
        self.lens[seq] = t + n

    def gather(self, seq):
        self._check(seq)
        t = self.lens[seq]
        if t == 0:
            e = self.K.new_empty(self.K.shape[1], 0, self.K.shape[3])
            return e, e.clone()
        parts = [(b, min(self.bs, t - i * self.bs)) for i, b in enumerate(self.tables[seq])]
        return (torch.cat([self.K[b, :, :c] for b, c in parts], 1),
                torch.cat([self.V[b, :, :c] for b, c in parts], 1))

    def free(self, seq):
        self._check(seq)
        for b in self.tables.pop(seq):
            self.refs[b] = 0  # wrong
            self.avail.append(b)  # wrong
        del self.lens[seq]

    def fork(self, seq):
        self._check(seq)
        s = self.new()
        self.tables[s] = list(self.tables[seq])
        self.lens[s] = self.lens[seq]
        for b in self.tables[s]:
            self.refs[b] += 1
        return s
