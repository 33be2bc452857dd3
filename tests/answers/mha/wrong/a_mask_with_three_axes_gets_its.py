# family: core
# mistake: mask-over-heads
# A mask with three axes gets its new axis in front: per head instead of per sequence.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        self.h = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        q = self.W_q(q).unflatten(-1, (self.h, -1))
        k = self.W_k(k).unflatten(-1, (self.h, -1))
        v = self.W_v(v).unflatten(-1, (self.h, -1))
        s = torch.einsum("bnhd,bmhd->bhnm", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            if mask.ndim == 3:
                mask = mask[None]  # wrong
            s = s.masked_fill(~mask, -torch.inf)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0)
        o = torch.einsum("bhnm,bmhd->bnhd", self.drop(w), v).flatten(2)
        return self.W_o(o), w
