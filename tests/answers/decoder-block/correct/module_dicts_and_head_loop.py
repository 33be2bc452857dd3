import math

import torch
from torch import nn
from torch.nn import functional as F


def projections(d_model):
    return nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("W_q", "W_k", "W_v", "W_o")})


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads, self.width, self.p = n_heads, d_model // n_heads, dropout
        self.self_attn = projections(d_model)
        self.cross_attn = projections(d_model)
        self.ffn = nn.ModuleDict({"dense1": nn.Linear(d_model, d_ff), "dense2": nn.Linear(d_ff, d_model)})
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def drop(self, t):
        return F.dropout(t, p=self.p, training=self.training)

    def split(self, t):
        return torch.stack(t.split(self.width, dim=-1), dim=1)

    def attend(self, weights, x, keys, values, hidden):
        queries = self.split(weights["W_q"](x))
        heads = []
        for h in range(self.n_heads):
            scores = torch.bmm(queries[:, h], keys[:, h].mT) / math.sqrt(self.width)
            if hidden is not None:
                mine = hidden[:, h if hidden.size(1) > 1 else 0]
                scores = scores.masked_fill(mine, -math.inf)
                w = F.softmax(scores, dim=-1).masked_fill(mine, 0.0)
            else:
                w = F.softmax(scores, dim=-1)
            heads.append(self.drop(w) @ values[:, h])
        return weights["W_o"](torch.cat(heads, dim=-1))

    def forward(self, x, memory, cache=None, memory_mask=None):
        keys, values = self.split(self.self_attn["W_k"](x)), self.split(self.self_attn["W_v"](x))
        if cache is not None:
            keys = torch.cat([cache[0], keys], dim=2)
            values = torch.cat([cache[1], values], dim=2)
        n, T = x.size(1), keys.size(2)
        future = torch.ones(n, T, device=x.device, dtype=torch.bool).triu(T - n + 1)
        y = self.norm1(x + self.drop(self.attend(self.self_attn, x, keys, values, future[None, None])))

        hidden = None
        if memory_mask is not None:
            hidden = ~memory_mask
            hidden = hidden[None, None] if hidden.dim() == 2 else hidden.unsqueeze(1) if hidden.dim() == 3 else hidden
        mk, mv = self.split(self.cross_attn["W_k"](memory)), self.split(self.cross_attn["W_v"](memory))
        z = self.norm2(y + self.drop(self.attend(self.cross_attn, y, mk, mv, hidden)))
        fed = self.ffn["dense2"](torch.clamp(self.ffn["dense1"](z), min=0))
        return self.norm3(z + self.drop(fed)), (keys, values)
