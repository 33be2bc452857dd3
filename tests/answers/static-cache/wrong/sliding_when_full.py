# family: contract
# mistake: none
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        n = k.size(2)
        if n > self.max_len:
            raise ValueError("chunk longer than the cache")
        overflow = self.length + n - self.max_len
        if overflow > 0:
            self.k = self.k.roll(-overflow, dims=2)
            self.v = self.v.roll(-overflow, dims=2)
            self.length -= overflow
        self.k[:, :, self.length : self.length + n] = k
        self.v[:, :, self.length : self.length + n] = v
        self.length += n
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def reset(self):
        self.length = 0
