import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads must divide the width")
        self.H, self.D = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def extend(self, old, new):
        B, n, _ = new.shape
        past = 0 if old is None else old.shape[2]
        grown = new.new_empty(B, self.H, past + n, self.D)
        if past:
            grown[:, :, :past] = old
        grown[:, :, past:] = new.view(B, n, self.H, self.D).transpose(1, 2)
        return grown

    def forward(self, x, cache=None, padding_mask=None):
        B, n, d = x.shape
        old_k, old_v = (None, None) if cache is None else cache
        k = self.extend(old_k, self.W_k(x))
        v = self.extend(old_v, self.W_v(x))
        q = self.extend(None, self.W_q(x)) / self.D**0.5
        T = k.size(2)
        mask = torch.tril(x.new_ones(T, T), 0).bool()[T - n :]
        mask = mask.expand(B, 1, n, T)
        if padding_mask is not None:
            mask = mask * padding_mask.view(B, 1, 1, T)
        scores = (q @ k.mT).masked_fill(mask.logical_not(), float("-inf"))
        empty = mask.any(-1, keepdim=True).logical_not()
        weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
        merged = torch.empty_like(x)
        for h, head in enumerate((weights @ v).unbind(1)):
            merged[..., h * self.D : (h + 1) * self.D] = head
        return self.W_o(merged), (k, v)
