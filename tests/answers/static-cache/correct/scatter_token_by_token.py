import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.shape = (batch, n_heads, max_len, d_head)
        self.dtype, self.device = dtype, device
        self.reset()

    def reset(self):
        self.length = 0
        self.k = torch.zeros(*self.shape, dtype=self.dtype, device=self.device)
        self.v = torch.zeros(*self.shape, dtype=self.dtype, device=self.device)

    def update(self, k, v):
        B, H, n, d = k.shape
        if self.length + n > self.shape[2]:
            raise ValueError("KV cache overflow")
        for i in range(n):
            slot = torch.full((1, 1, 1, 1), self.length + i, device=k.device).expand(B, H, 1, d)
            self.k.scatter_(2, slot, k[:, :, i : i + 1])
            self.v.scatter_(2, slot, v[:, :, i : i + 1])
        self.length += n
        return self.k[:, :, : self.length], self.v[:, :, : self.length]
