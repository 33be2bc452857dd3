# family: core
# mistake: length-raised-before-the-check
# The length is raised before the check, a refused update leaves it changed.
import torch
from torch import nn


class StaticKVCache(nn.Module):
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        super().__init__()
        shape = (batch, n_heads, max_len, d_head)
        self.register_buffer("keys", torch.empty(shape, dtype=dtype, device=device))
        self.register_buffer("values", torch.empty(shape, dtype=dtype, device=device))
        self.length = 0

    def update(self, k, v):
        start = self.length
        self.length += k.size(-2)  # wrong
        if self.length > self.keys.size(-2):
            raise ValueError(f"{self.length} tokens do not fit into {self.keys.size(-2)}")
        with torch.no_grad():
            self.keys[..., start:self.length, :].copy_(k)
            self.values[..., start:self.length, :].copy_(v)
        return self.keys[..., :self.length, :], self.values[..., :self.length, :]

    def reset(self):
        self.length = 0
