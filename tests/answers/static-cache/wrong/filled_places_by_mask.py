# family: cost
# mistake: whole-buffer-rewritten
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v = torch.zeros_like(self.k)
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        n = k.size(2)
        if self.length + n > self.max_len:
            raise ValueError("full")
        onehot = torch.zeros(n, self.max_len, dtype=k.dtype, device=k.device)
        onehot[range(n), range(self.length, self.length + n)] = 1
        keep = 1 - onehot.sum(0)[:, None]
        self.k = self.k * keep + onehot.T @ k
        self.v = self.v * keep + onehot.T @ v
        self.length += n
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def reset(self):
        self.length = 0
