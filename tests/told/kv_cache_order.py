# kata: kv-cache
# names: new-before-old
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, t):
        return t.unflatten(-1, (self.h, self.d)).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        if cache is not None:
            past_k, past_v = cache
            k = torch.cat((k, past_k), dim=-2)  # wrong
            v = torch.cat((v, past_v), dim=-2)  # wrong, named
        n, t = q.size(2), k.size(2)
        i = torch.arange(t - n, t, device=x.device)[:, None]
        j = torch.arange(t, device=x.device)[None, :]
        seen = j <= i
        if padding_mask is not None:
            seen = seen & padding_mask[:, None, None, :]
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.d**-0.5
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        weights = weights.masked_fill(~seen, 0.0)
        out = torch.einsum("bhij,bhjd->bhid", weights, v)
        return self.W_o(out.transpose(1, 2).flatten(2)), (k, v)
