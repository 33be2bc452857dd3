import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        dtype = torch.get_default_dtype() if dtype is None else dtype
        device = torch.get_default_device() if device is None else device
        self.k_cache = torch.full((batch, n_heads, max_len, d_head), float("nan"), dtype=dtype, device=device)
        self.v_cache = torch.full_like(self.k_cache, float("nan"))
        self.positions = torch.arange(max_len, device=device)
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        assert k.shape == v.shape
        n = k.size(2)
        if not self.length + n <= self.max_len:
            raise ValueError("too many tokens")
        input_pos = self.positions[self.length : self.length + n]
        self.k_cache[:, :, input_pos] = k
        self.v_cache[:, :, input_pos] = v
        self.length = self.length + n
        return self.k_cache[..., : self.length, :], self.v_cache[..., : self.length, :]

    def reset(self):
        self.length = 0
        self.k_cache.fill_(float("nan"))
        self.v_cache.fill_(float("nan"))
