from typing import NamedTuple

import torch


class Cached(NamedTuple):
    keys: torch.Tensor
    values: torch.Tensor


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.store = torch.zeros(2, batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.reset()

    @property
    def capacity(self):
        return self.store.size(3)

    def update(self, k, v):
        n = k.size(2)
        if n > self.capacity - self.length:
            raise ValueError(f"{n} tokens do not fit")
        self.store[0, :, :, self.length : self.length + n] = k
        self.store[1, :, :, self.length : self.length + n] = v
        self.length += n
        return Cached(*self.store[:, :, :, : self.length].unbind(0))

    def reset(self):
        self.length = 0
