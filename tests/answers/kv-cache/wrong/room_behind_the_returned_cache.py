# family: core
# mistake: none
# Without gradients a cache is the front of a larger buffer; each call writes behind it, whoever else has done so before.
import torch
from torch import nn


class Grown(tuple):
    buffers = None


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def _extend(self, cache, k, v):
        if torch.is_grad_enabled():
            return (k, v) if cache is None else tuple(torch.cat(p, 2) for p in zip(cache, (k, v)))
        t, n = (0 if cache is None else cache[0].size(2)), k.size(2)
        bufs = getattr(cache, "buffers", None)
        if bufs is None or bufs[0].size(2) < t + n:
            size = 2 * (t + n)
            new = tuple(b.new_empty(*b.shape[:2], size, b.shape[3]) for b in (k, v))
            if cache is not None:
                for b, c in zip(new, cache):
                    b[:, :, :t] = c
            bufs = new
        for b, s in zip(bufs, (k, v)):
            b[:, :, t : t + n] = s  # wrong
        out = Grown(b[:, :, : t + n] for b in bufs)
        out.buffers = bufs
        return out

    def forward(self, x, cache=None, padding_mask=None):
        q, k, v = (w(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        cache = self._extend(cache, k, v)
        k, v = cache
        T, n = k.size(2), x.size(1)
        see = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            see = see & padding_mask[:, None, None]
        s = (q @ k.mT) / q.size(-1) ** 0.5
        s = s.masked_fill(~see, -torch.inf).masked_fill(~see.any(-1, keepdim=True), 0)
        w = s.softmax(-1) * see
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), cache
