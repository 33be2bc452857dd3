# family: mask
# mistake: none
# A mask with one plane a head is thinned to one plane a group, so heads of a group share the first one's.
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        if n_heads % n_kv_heads:
            raise ValueError("n_kv_heads must divide n_heads")
        self.G = n_kv_heads
        self.R = n_heads // n_kv_heads
        self.dh = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.G * self.dh, bias=bias)
        self.W_v = nn.Linear(d_model, self.G * self.dh, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.W_q(x).unflatten(-1, (self.G, self.R, self.dh))
        k = self.W_k(x).unflatten(-1, (self.G, self.dh))
        v = self.W_v(x).unflatten(-1, (self.G, self.dh))
        s = torch.einsum("bngrd,bmgd->bgrnm", q, k) / self.dh**0.5
        if mask is not None:
            if mask.dim() == 2:
                mask = mask[None]
            if mask.dim() == 3:
                mask = mask[:, None]
            mask = mask[:, :: self.R].unsqueeze(2)  # wrong
            w = s.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        else:
            w = s.softmax(-1)
        out = torch.einsum("bgrnm,bmgd->bngrd", w, v).flatten(2)
        return self.W_o(out), w.flatten(1, 2)
