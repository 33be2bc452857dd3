# family: contract
# mistake: none
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        for i in range(k.size(2)):
            if self.length >= self.max_len:
                raise ValueError("one token too many")
            self.k[:, :, self.length] = k[:, :, i]
            self.v[:, :, self.length] = v[:, :, i]
            self.length += 1
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def reset(self):
        self.length = 0
