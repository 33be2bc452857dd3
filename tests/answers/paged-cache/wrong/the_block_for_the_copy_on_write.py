# family: contract
# mistake: copy-not-counted
# The block for the copy on write is not counted when it is checked whether there are enough.
import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.kv = torch.empty(n_blocks, 2, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.block_size = block_size
        self.pool = list(range(n_blocks))
        self.count = [0] * n_blocks
        self.table: dict[int, list[int]] = {}
        self.length: dict[int, int] = {}
        self.created = 0

    @property
    def n_free(self):
        return len(self.pool)

    def _known(self, seq):
        if seq not in self.table:
            raise ValueError(f"unknown or freed sequence: {seq}")

    def _give(self):
        block = self.pool.pop()
        self.count[block] = 1
        return block

    def _back(self, block):
        self.count[block] -= 1
        if self.count[block] == 0:
            self.pool.append(block)

    def new(self):
        seq = self.created
        self.created += 1
        self.table[seq] = []
        self.length[seq] = 0
        return seq

    def append(self, seq, k, v):
        self._known(seq)
        blocks = self.table[seq]
        start, n, size = self.length[seq], k.shape[1], self.block_size
        needed = (start + n + size - 1) // size - len(blocks)  # wrong
        if needed > len(self.pool):
            raise ValueError("too few free blocks")
        part = start % size
        with torch.no_grad():
            if part and self.count[blocks[-1]] > 1:
                mine = self._give()
                self.kv[mine, :, :, :part] = self.kv[blocks[-1], :, :, :part]
                self._back(blocks[-1])
                blocks[-1] = mine
            for _ in range(needed):
                blocks.append(self._give())
            i = 0
            while i < n:
                b, o = divmod(start + i, size)
                c = min(size - o, n - i)
                self.kv[blocks[b], 0, :, o:o + c] = k[:, i:i + c]
                self.kv[blocks[b], 1, :, o:o + c] = v[:, i:i + c]
                i += c
        self.length[seq] = start + n

    def gather(self, seq):
        self._known(seq)
        left = self.length[seq]
        _, _, h, _, d = self.kv.shape
        chunks = [self.kv.new_empty(2, h, 0, d)]
        for b in self.table[seq]:
            chunks.append(self.kv[b, :, :, :min(left, self.block_size)])
            left -= self.block_size
        both = torch.cat(chunks, dim=2)
        return both[0], both[1]

    def free(self, seq):
        self._known(seq)
        for b in self.table.pop(seq):
            self._back(b)
        self.length.pop(seq)

    def fork(self, seq):
        self._known(seq)
        twin = self.new()
        self.table[twin] = self.table[seq][:]
        self.length[twin] = self.length[seq]
        for b in self.table[twin]:
            self.count[b] += 1
        return twin
