import torch
from torch import nn


class StaticKVCache(nn.Module):
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        super().__init__()
        zeros = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.register_buffer("k_cache", zeros, persistent=False)
        self.register_buffer("v_cache", zeros.clone(), persistent=False)
        self._used = 0

    @property
    def length(self):
        return self._used

    @torch.no_grad()
    def update(self, k, v):
        used = self._used + k.size(2)
        if used > self.k_cache.size(2):
            raise ValueError(f"no room for {k.size(2)} more tokens")
        self.k_cache[:, :, self._used : used].copy_(k)
        self.v_cache[:, :, self._used : used].copy_(v)
        self._used = used
        return self.k_cache[:, :, :used], self.v_cache[:, :, :used]

    def reset(self):
        self.k_cache.zero_()
        self.v_cache.zero_()
        self._used = 0
        return self
