import torch


class StaticKVCache(list):
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        make = lambda: torch.empty(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        super().__init__([make(), make()])
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        new = (k, v)
        start, stop = self.length, self.length + new[0].shape[2]
        if stop > self.max_len:
            raise ValueError("no room")
        for memory, tokens in zip(self, new):
            for t in range(start, stop):
                memory[:, :, t].copy_(tokens.detach()[:, :, t - start])
        self.length = stop
        return tuple(memory[:, :, :stop] for memory in self)

    def reset(self):
        self.length = 0
