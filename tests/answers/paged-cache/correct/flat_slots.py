import torch
from torch import nn


class PagedKVCache(nn.Module):
    """All tokens of all blocks in one row of slots; a table of slots for each sequence."""

    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        super().__init__()
        zeros = torch.zeros(2, n_blocks * block_size, n_heads, d_head, dtype=dtype, device=device)
        self.register_buffer("slots", zeros, persistent=False)
        self.block_size = block_size
        self.free_list = list(reversed(range(n_blocks)))
        self.users = [[] for _ in range(n_blocks)]
        self.table, self.length = {}, {}
        self.count = 0

    @property
    def n_free(self):
        return len(self.free_list)

    def _check(self, seq):
        if seq not in self.table:
            raise ValueError(f"sequence {seq} does not exist")

    def new(self):
        seq = self.count
        self.count += 1
        self.table[seq], self.length[seq] = [], 0
        return seq

    def fork(self, seq):
        self._check(seq)
        child = self.new()
        self.table[child] = self.table[seq].copy()
        self.length[child] = self.length[seq]
        for block in self.table[child]:
            self.users[block].append(child)
        return child

    def free(self, seq):
        self._check(seq)
        for block in self.table.pop(seq):
            self.users[block].remove(seq)
            if not self.users[block]:
                self.free_list.append(block)
        self.length.pop(seq)

    def _slots(self, seq, start, stop):
        table = self.table[seq]
        places = [table[t // self.block_size] * self.block_size + t % self.block_size for t in range(start, stop)]
        return torch.tensor(places, dtype=torch.long, device=self.slots.device)

    @torch.no_grad()
    def append(self, seq, k, v):
        self._check(seq)
        table, start = self.table[seq], self.length[seq]
        stop = start + k.size(-2)
        wanted = (stop + self.block_size - 1) // self.block_size - len(table)
        copy = start % self.block_size != 0 and len(self.users[table[-1]]) > 1
        if wanted + int(copy) > self.n_free:
            raise ValueError("no block left")
        if copy:
            old = table[-1]
            held = self._slots(seq, start - start % self.block_size, start)
            self.users[old].remove(seq)
            table[-1] = self.free_list.pop()
            self.users[table[-1]].append(seq)
            self.slots[:, self._slots(seq, start - start % self.block_size, start)] = self.slots[:, held]
        for _ in range(wanted):
            table.append(self.free_list.pop())
            self.users[table[-1]].append(seq)
        where = self._slots(seq, start, stop)
        self.slots[0].index_copy_(0, where, k.transpose(0, 1).contiguous())
        self.slots[1].index_copy_(0, where, v.transpose(0, 1).contiguous())
        self.length[seq] = stop

    def gather(self, seq):
        self._check(seq)
        k, v = self.slots[:, self._slots(seq, 0, self.length[seq])].transpose(1, 2)
        return k, v
