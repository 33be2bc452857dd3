import torch


class Block:
    def __init__(self, keys, values):
        self.keys, self.values = keys, values
        self.refs = 0


class Sequence:
    def __init__(self, blocks=(), length=0):
        self.blocks, self.length = list(blocks), length


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        memory = torch.zeros((2, n_blocks, n_heads, block_size, d_head), dtype=dtype, device=device)
        self.idle = [Block(*memory[:, i]) for i in range(n_blocks)]
        self.empty = memory[0, 0, :, :0]
        self.size = block_size
        self.all = []

    @property
    def n_free(self):
        return len(self.idle)

    def find(self, seq):
        if not 0 <= seq < len(self.all) or self.all[seq] is None:
            raise ValueError("no such sequence")
        return self.all[seq]

    def new(self):
        self.all.append(Sequence())
        return len(self.all) - 1

    def fork(self, seq):
        other = self.find(seq)
        for block in other.blocks:
            block.refs += 1
        self.all.append(Sequence(other.blocks, other.length))
        return len(self.all) - 1

    def free(self, seq):
        for block in self.find(seq).blocks:
            self.release(block)
        self.all[seq] = None

    def release(self, block):
        block.refs -= 1
        if block.refs == 0:
            self.idle.append(block)

    def acquire(self):
        block = self.idle.pop(0)
        block.refs = 1
        return block

    def append(self, seq, k, v):
        s = self.find(seq)
        n = k.size(1)
        room = len(s.blocks) * self.size - s.length
        shared = room > 0 and s.blocks[-1].refs > 1
        extra = max(0, n - room + self.size - 1) // self.size
        if extra + shared > len(self.idle):
            raise ValueError("the cache is full")
        if shared:
            mine, theirs = self.acquire(), s.blocks.pop()
            mine.keys.copy_(theirs.keys)
            mine.values.copy_(theirs.values)
            self.release(theirs)
            s.blocks.append(mine)
        while n:
            if room == 0:
                s.blocks.append(self.acquire())
                room = self.size
            step, row = min(room, n), self.size - room
            s.blocks[-1].keys[:, row : row + step] = k[:, :step]
            s.blocks[-1].values[:, row : row + step] = v[:, :step]
            k, v = k[:, step:], v[:, step:]
            n, room, s.length = n - step, room - step, s.length + step

    def gather(self, seq):
        s = self.find(seq)
        if not s.blocks:
            return self.empty, self.empty
        k = torch.cat([b.keys for b in s.blocks], 1)
        v = torch.cat([b.values for b in s.blocks], 1)
        return k[:, : s.length], v[:, : s.length]
