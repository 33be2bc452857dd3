import torch


class StaticKVCache:
    """Stores (B, max_len, H, d): a token's numbers lie together."""

    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        make = lambda: torch.zeros((batch, max_len, n_heads, d_head), dtype=dtype, device=device)
        self.buffers = {"k": make(), "v": make()}
        self.max_len = max_len
        self.length = 0

    def _put(self, name, new, start):
        self.buffers[name][:, start : start + new.size(2)] = new.transpose(1, 2)

    def _get(self, name):
        return self.buffers[name][:, : self.length].transpose(1, 2)

    def update(self, k, v):
        start, n = self.length, k.size(2)
        room = self.max_len - start
        if room < n:
            raise ValueError(f"room for {room} tokens, got {n}")
        self._put("k", k, start)
        self._put("v", v, start)
        self.length = start + n
        return self._get("k"), self._get("v")

    def reset(self):
        self.length = 0
