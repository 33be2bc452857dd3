# family: core
# mistake: none
# The length grows before it is checked, so an update that does not fit leaves a wrong length behind.
import torch
from torch import nn


class StaticKVCache(nn.Module):
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        super().__init__()
        size = batch, n_heads, max_len, d_head
        self.register_buffer("k_mem", torch.empty(size, dtype=dtype, device=device), persistent=False)
        self.register_buffer("v_mem", torch.empty(size, dtype=dtype, device=device), persistent=False)
        self.length = 0

    def update(self, k, v):
        start = self.length
        self.length += k.size(-2)  # wrong
        if self.length > self.k_mem.size(-2):
            raise ValueError("the cache is full")
        n = self.length - start
        with torch.no_grad():
            self.k_mem.narrow(2, start, n).copy_(k)
            self.v_mem.narrow(2, start, n).copy_(v)
        return self.k_mem.narrow(2, 0, self.length), self.v_mem.narrow(2, 0, self.length)

    def reset(self):
        self.length = 0
