import torch


class PagedKVCache:
    """Who holds a block is read off the tables each time: no counts that could be wrong."""

    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self.n_blocks, self.block_size = n_blocks, block_size
        self.key_pages = [torch.zeros(block_size, n_heads, d_head, dtype=dtype, device=device) for _ in range(n_blocks)]
        self.value_pages = [torch.zeros_like(page) for page in self.key_pages]
        self.none = torch.zeros(n_heads, 0, d_head, dtype=dtype, device=device)
        self.pages, self.lengths = {}, {}
        self.issued = -1

    def _unused(self):
        held = {page for pages in self.pages.values() for page in pages}
        return [page for page in range(self.n_blocks) if page not in held]

    @property
    def n_free(self):
        return len(self._unused())

    def new(self):
        self.issued += 1
        self.pages[self.issued], self.lengths[self.issued] = (), 0
        return self.issued

    def fork(self, seq):
        if seq not in self.pages:
            raise ValueError(seq)
        new = self.new()
        self.pages[new], self.lengths[new] = self.pages[seq], self.lengths[seq]
        return new

    def free(self, seq):
        if seq not in self.pages:
            raise ValueError(seq)
        del self.pages[seq]
        del self.lengths[seq]

    def append(self, seq, k, v):
        if seq not in self.pages:
            raise ValueError(seq)
        pages, length, unused = list(self.pages[seq]), self.lengths[seq], self._unused()
        last = length % self.block_size
        shared = last and sum(pages[-1] in other for other in self.pages.values()) > 1
        total = -(-(length + k.size(1)) // self.block_size)
        if total - len(pages) + bool(shared) > len(unused):
            raise ValueError("not enough pages")
        if shared:
            page = unused.pop()
            for store in (self.key_pages, self.value_pages):
                store[page][:last] = store[pages[-1]][:last]
            pages[-1] = page
        while len(pages) < total:
            pages.append(unused.pop())
        for i, (key, value) in enumerate(zip(k.unbind(1), v.unbind(1)), start=length):
            page, row = pages[i // self.block_size], i % self.block_size
            self.key_pages[page][row] = key
            self.value_pages[page][row] = value
        self.pages[seq], self.lengths[seq] = tuple(pages), length + k.size(1)

    def gather(self, seq):
        if seq not in self.pages:
            raise ValueError(seq)
        if not self.lengths[seq]:
            return self.none, self.none
        rows = slice(0, self.lengths[seq])
        k = torch.cat([self.key_pages[page] for page in self.pages[seq]])[rows]
        v = torch.cat([self.value_pages[page] for page in self.pages[seq]])[rows]
        return k.permute(1, 0, 2), v.permute(1, 0, 2)
