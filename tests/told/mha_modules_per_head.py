# kata: mha
# names:
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads do not divide the width")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        if mask is not None:
            mask = mask.expand(q.size(0), self.n_heads, q.size(1), k.size(1))
        qs = self.W_q(q).chunk(self.n_heads, dim=-1)
        ks = self.W_k(k).chunk(self.n_heads, dim=-1)
        vs = self.W_v(v).chunk(self.n_heads, dim=-1)
        outs, atts = [], []
        for h in range(self.n_heads):
            s = qs[h] @ ks[h].mT / math.sqrt(qs[h].size(-1))
            if mask is not None:
                s = s.masked_fill(~mask[:, h], float("-inf"))
            a = s.softmax(-1).nan_to_num(0.0)
            atts.append(a)
            outs.append(self.dropout(a) @ vs[0])  # wrong
        return self.W_o(torch.cat(outs, dim=-1)), torch.stack(atts, dim=1)
