# family: device
# mistake: prefix-through-the-cpu
import numpy as np
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k = np.zeros((batch, n_heads, max_len, d_head))
        self.v = np.zeros((batch, n_heads, max_len, d_head))
        self.dtype, self.device, self.length = dtype, device, 0

    def update(self, k, v):
        end = self.length + k.size(2)
        if end > self.k.shape[2]:
            raise ValueError("full")
        self.k[:, :, self.length : end] = k.double().cpu().numpy()
        self.v[:, :, self.length : end] = v.double().cpu().numpy()
        self.length = end
        make = lambda a: torch.tensor(a[:, :, :end], dtype=k.dtype, device=k.device)
        return make(self.k), make(self.v)

    def reset(self):
        self.length = 0
