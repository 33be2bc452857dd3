# kata: paged-cache
# names:
import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.k = torch.empty(n_blocks, block_size, n_heads, d_head, dtype=dtype, device=device)
        self.v = torch.empty(n_blocks, block_size, n_heads, d_head, dtype=dtype, device=device)
        self.size = block_size
        self.free_blocks = list(range(n_blocks))
        self.refs = [0] * n_blocks
        self.tables, self.lengths = {}, {}
        self.next_seq = 0

    @property
    def n_free(self):
        return len(self.free_blocks)

    def _check(self, seq):
        if seq not in self.tables:
            raise ValueError(f"no sequence {seq}")

    def _take(self, seq):
        block = self.free_blocks.pop(0)
        self.refs[block] = 1
        return block

    def new(self):
        seq, self.next_seq = self.next_seq, self.next_seq + 1
        self.tables[seq], self.lengths[seq] = [], 0
        return seq

    def fork(self, seq):
        self._check(seq)
        child = self.new()
        self.tables[child], self.lengths[child] = list(self.tables[seq]), self.lengths[seq]
        for block in self.tables[seq]:
            self.refs[block] += 1
        return child

    def free(self, seq):
        self._check(seq)
        for block in self.tables.pop(seq):
            self.refs[block] -= 1
            if self.refs[block] == 0:
                self.free_blocks.append(block)
        del self.lengths[seq]

    @torch.no_grad()
    def append(self, seq, k, v):
        self._check(seq)
        table, T, n = self.tables[seq], self.lengths[seq], k.shape[1]
        need = -(-(T + n) // self.size) - len(table)
        copy = T % self.size > 0 and self.refs[table[-1]] > 1
        if need + copy > self.n_free:
            raise ValueError("too few free blocks")
        if copy:
            old = table[-1]
            table[-1] = self._take(seq)
            self.k[table[-1]] = self.k[old]
            self.v[table[-1]] = self.v[old]
            self.refs[old] -= 1
        table += [self._take(seq) for _ in range(need)]
        for i in range(n):
            block, row = table[(T + i) // self.size], (T + i) % self.size
            self.k[block, row] = k[:, i]
            self.v[block, row] = v[:, i]
        self.lengths[seq] = T + n

    def gather(self, seq):
        self._check(seq)
        table, T = self.tables[seq], self.lengths[seq]
        if table == list(range(table[0], table[0] + len(table))) if table else False:
            rows = slice(table[0] * self.size, table[0] * self.size + T)
            return tuple(m.flatten(0, 1)[rows].transpose(0, 1) for m in (self.k, self.v))  # wrong
        index = torch.tensor(table, dtype=torch.long, device=self.k.device)
        return tuple(m[index].flatten(0, 1)[:T].transpose(0, 1) for m in (self.k, self.v))
