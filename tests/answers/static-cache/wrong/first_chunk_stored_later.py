# family: cost
# mistake: concatenated
import torch
class StaticKVCache:
    """keeps the caller's tensor on the first update"""
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.kv = torch.empty((2, batch, n_heads, max_len, d_head), dtype=dtype, device=device)
        self.max_len, self.length = max_len, 0
        self.first = None
    def update(self, k, v):
        n = k.size(2)
        if self.length + n > self.max_len: raise ValueError
        if self.length == 0:
            self.first = (k, v); self.length = n
            return k, v
        if self.first is not None:
            m = self.first[0].size(2)
            self.kv[0][:, :, :m] = self.first[0]; self.kv[1][:, :, :m] = self.first[1]; self.first = None
        self.kv[0][:, :, self.length:self.length+n] = k; self.kv[1][:, :, self.length:self.length+n] = v
        self.length += n
        return self.kv[0][:, :, :self.length], self.kv[1][:, :, :self.length]
    def reset(self):
        self.length = 0; self.first = None
