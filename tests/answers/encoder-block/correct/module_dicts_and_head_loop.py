"""Bare containers for the layers, everything happens in one forward."""
import math

import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("W_q", "W_k", "W_v", "W_o")})
        self.ffn = nn.ModuleDict({"dense1": nn.Linear(d_model, d_ff), "dense2": nn.Linear(d_ff, d_model)})
        self.addnorm1 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.addnorm2 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.drop = nn.Dropout(dropout)

    def mask_of(self, mask, head):
        if mask is None or mask.dim() < 4:
            return mask
        return mask[:, head if mask.size(1) > 1 else 0]

    def attend(self, x, mask):
        q, k, v = (self.attention[name](x) for name in ("W_q", "W_k", "W_v"))
        heads = []
        for head in range(self.n_heads):
            part = slice(head * self.d_head, (head + 1) * self.d_head)
            scores = torch.bmm(q[..., part], k[..., part].transpose(1, 2)) / math.sqrt(self.d_head)
            visible = self.mask_of(mask, head)
            if visible is not None:
                visible = visible.expand_as(scores)
                scores = scores.masked_fill(visible.logical_not(), float("-inf"))
                weights = torch.softmax(scores, -1).masked_fill(visible.logical_not(), 0)
            else:
                weights = torch.softmax(scores, -1)
            heads.append(torch.bmm(self.drop(weights), v[..., part]))
        return self.attention["W_o"](torch.cat(heads, dim=-1))

    def forward(self, x, mask=None):
        x = self.addnorm1["ln"](x + self.drop(self.attend(x, mask)))
        hidden = torch.relu(self.ffn["dense1"](x))
        return self.addnorm2["ln"](x + self.drop(self.ffn["dense2"](hidden)))
