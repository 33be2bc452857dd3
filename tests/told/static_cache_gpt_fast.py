# kata: static-cache
# names: whole-cleared-buffer-returned, overflow-not-noticed
import torch
from torch import nn


class StaticKVCache(nn.Module):
    def __init__(self, batch, n_heads, max_len, d_head, dtype=torch.bfloat16, device=None):
        super().__init__()
        cache_shape = (batch, n_heads, max_len, d_head)
        self.register_buffer('k_cache', torch.zeros(cache_shape, dtype=dtype))
        self.register_buffer('v_cache', torch.zeros(cache_shape, dtype=dtype))
        self.length = 0

    def update(self, k, v):
        n = k.shape[2]
        self.k_cache[:, :, self.length:self.length + n] = k
        self.v_cache[:, :, self.length:self.length + n] = v
        self.length += n
        return self.k_cache, self.v_cache  # wrong

    def reset(self):
        self.k_cache.zero_()
        self.v_cache.zero_()
        self.length = 0
