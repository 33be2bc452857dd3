# family: core
# mistake: padding-hides-queries
# The padding mask hides the queries (rows) instead of the keys.
import math
import torch
from torch import Tensor, nn


def causal_mask(n: int, total: int, device) -> Tensor:
    query_pos = torch.arange(total - n, total, device=device)
    key_pos = torch.arange(total, device=device)
    return query_pos.unsqueeze(1) >= key_pos.unsqueeze(0)


def visible_keys(n, total, padding_mask, device):
    mask = causal_mask(n, total, device)[None, None]
    if padding_mask is not None:
        mask = mask & padding_mask[:, None, total - n :, None]  # wrong
    return mask


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def heads(self, t):
        return t.unflatten(2, (self.n_heads, self.d_head)).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        q, keys, values = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        if cache is not None:
            keys = torch.cat([cache[0], keys], 2)
            values = torch.cat([cache[1], values], 2)
        mask = visible_keys(x.size(1), keys.size(2), padding_mask, x.device)
        scores = torch.matmul(q, keys.mT) / math.sqrt(self.d_head)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1).masked_fill(~mask, 0.0)
        context = torch.matmul(weights, values).transpose(1, 2).flatten(2)
        return self.W_o(context), (keys, values)
