# family: cost
# mistake: concatenated
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.length = 0

    def update(self, k, v):
        T = self.length + k.shape[2]
        if T > self.k.shape[2]:
            raise ValueError("cache is full")
        self.k[:, :, self.length : T] = k
        self.v[:, :, self.length : T] = v
        self.length = T
        return self.k[:, :, :T].clone(), self.v[:, :, :T].clone()

    def reset(self):
        self.length = 0
