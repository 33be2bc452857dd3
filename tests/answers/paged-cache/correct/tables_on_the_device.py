import torch


class PagedKVCache:
    """Block tables as tensors beside the blocks, lengths on the host."""

    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.n_blocks, self.block_size = n_blocks, block_size
        shape = n_blocks, n_heads, block_size, d_head
        self.k_cache, self.v_cache = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        self.free_blocks = list(range(n_blocks))
        self.ref = {}
        self.seqs = []

    @property
    def n_free(self):
        return len(self.free_blocks)

    def _seq(self, seq):
        if not isinstance(seq, int) or seq < 0 or seq >= len(self.seqs) or self.seqs[seq] is None:
            raise ValueError(f"sequence {seq}: freed, or never made")
        return self.seqs[seq]

    def new(self):
        self.seqs.append(([], 0))
        return len(self.seqs) - 1

    def fork(self, seq):
        blocks, length = self._seq(seq)
        for b in blocks:
            self.ref[b] += 1
        self.seqs.append((list(blocks), length))
        return len(self.seqs) - 1

    def free(self, seq):
        blocks, _ = self._seq(seq)
        self.seqs[seq] = None
        for b in blocks:
            self.ref[b] -= 1
            if self.ref[b] == 0:
                del self.ref[b]
                self.free_blocks.append(b)

    def _allocate(self):
        b = self.free_blocks.pop()
        self.ref[b] = 1
        return b

    def append(self, seq, k, v):
        blocks, length = self._seq(seq)
        n, bs = k.size(1), self.block_size
        offset = length % bs
        cow = offset > 0 and self.ref[blocks[-1]] > 1
        new_blocks = (length + n + bs - 1) // bs - len(blocks)
        if new_blocks + cow > self.n_free:
            raise ValueError("out of memory")
        if cow:
            src, dst = blocks[-1], self._allocate()
            self.k_cache[dst].copy_(self.k_cache[src])
            self.v_cache[dst].copy_(self.v_cache[src])
            self.ref[src] -= 1
            blocks[-1] = dst
        blocks += [self._allocate() for _ in range(new_blocks)]
        table = torch.tensor(blocks[length // bs :], device=self.k_cache.device)
        pos = torch.arange(offset, offset + n, device=self.k_cache.device)
        block, row = table[pos // bs], pos % bs
        self.k_cache[block, :, row] = k.transpose(0, 1)
        self.v_cache[block, :, row] = v.transpose(0, 1)
        self.seqs[seq] = (blocks, length + n)

    def gather(self, seq):
        blocks, length = self._seq(seq)
        table = torch.tensor(blocks, dtype=torch.long, device=self.k_cache.device)
        k, v = (c.index_select(0, table).transpose(0, 1).flatten(1, 2) for c in (self.k_cache, self.v_cache))
        return k.narrow(1, 0, length), v.narrow(1, 0, length)
