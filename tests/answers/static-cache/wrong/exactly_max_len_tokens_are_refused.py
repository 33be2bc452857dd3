# family: core
# mistake: last-place-refused
# Exactly max_len tokens are refused.
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = torch.empty(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v = torch.empty(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.max_len = max_len
        self.length = 0

    @torch.no_grad()
    def update(self, k, v):
        end = self.length + k.shape[2]
        if end >= self.max_len:  # wrong
            raise ValueError("cache is full")
        self.k[:, :, self.length:end] = k
        self.v[:, :, self.length:end] = v
        self.length = end
        return self.k[:, :, :end], self.v[:, :, :end]

    def reset(self):
        self.length = 0
