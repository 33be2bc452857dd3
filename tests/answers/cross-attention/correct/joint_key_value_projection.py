from collections import namedtuple

import torch
from torch import nn

Result = namedtuple("Result", "output weights")


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def keys_and_values(self, context):
        weight = torch.cat((self.W_k.weight, self.W_v.weight), dim=0)
        both = context @ weight.t()
        if self.W_k.bias is not None:
            both = both + torch.cat((self.W_k.bias, self.W_v.bias))
        return torch.tensor_split(both, [self.W_k.out_features], dim=-1)

    def forward(self, x_q, x_kv, mask=None):
        keys, values = self.keys_and_values(x_kv)
        queries = self.W_q(x_q) * (keys.size(-1) ** -0.5)
        scores = queries.matmul(keys.mT)
        if mask is not None:
            hidden = torch.logical_not(mask)
            scores = scores.masked_fill(hidden, -float("inf"))
            blind = hidden.all(dim=-1, keepdim=True)
            scores = torch.where(blind, torch.zeros_like(scores), scores)
            weights = torch.softmax(scores, dim=-1)
            weights = torch.where(blind, torch.zeros_like(weights), weights)
        else:
            weights = torch.softmax(scores, dim=-1)
        return Result(output=weights.matmul(values), weights=weights)
