# family: core
# mistake: gelu
# The feed-forward network uses GELU (as BERT does) in the place of ReLU.
import torch
import torch.nn.functional as F
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads: raise ValueError("heads")
        L = nn.Linear
        self.h, self.p = n_heads, dropout
        self.attention, self.ffn, self.addnorm1, self.addnorm2 = (nn.Module() for _ in range(4))
        for w in "qkvo": setattr(self.attention, f"W_{w}", L(d_model, d_model))
        self.ffn.dense1, self.ffn.dense2 = L(d_model, d_ff), L(d_ff, d_model)
        self.addnorm1.ln, self.addnorm2.ln = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        a, drop = self.attention, lambda t: F.dropout(t, self.p, self.training)
        q, k, v = (W(x).unflatten(-1, (self.h, -1)) for W in (a.W_q, a.W_k, a.W_v))
        s = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            s = s.masked_fill(~mask, -torch.inf)
        w = s.softmax(-1)
        w = w if mask is None else w.masked_fill(~mask, 0)
        c = torch.einsum("bhij,bjhd->bihd", drop(w), v).flatten(2)
        y = self.addnorm1.ln(x + drop(a.W_o(c)))
        f = self.ffn.dense2(F.gelu(self.ffn.dense1(y)))  # wrong
        return self.addnorm2.ln(y + drop(f))
