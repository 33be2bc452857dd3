# family: contract
# mistake: overflow-not-noticed
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        self.k_cache = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.v_cache = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.length = 0

    def update(self, k, v):
        pos = self.length
        self.k_cache[:, :, pos : pos + k.size(2), :] = k
        self.v_cache[:, :, pos : pos + k.size(2), :] = v
        self.length = pos + k.size(2)
        return self.k_cache[:, :, : self.length], self.v_cache[:, :, : self.length]

    def reset(self):
        self.length = 0
