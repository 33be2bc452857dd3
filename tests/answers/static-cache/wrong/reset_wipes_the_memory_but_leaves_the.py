# family: core
# mistake: reset-keeps-the-length
# Reset wipes the memory but leaves the length as it was.
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        opts = {"dtype": dtype, "device": device}
        self.K = torch.zeros(batch, n_heads, max_len, d_head, **opts)
        self.V = torch.zeros(batch, n_heads, max_len, d_head, **opts)
        self.length = 0

    def update(self, k, v):
        a, b = self.length, self.length + k.shape[2]
        if b > self.K.shape[2]:
            raise ValueError("no room")
        with torch.no_grad():
            self.K[:, :, a:b] = k
            self.V[:, :, a:b] = v
        self.length = b
        return self.K[:, :, :b], self.V[:, :, :b]

    def reset(self):
        self.K.zero_()
        self.V.zero_()  # wrong
