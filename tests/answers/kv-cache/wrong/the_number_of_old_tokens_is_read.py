# family: core
# mistake: none
# The number of old tokens is read off the cache's axis of heads.
import torch
import torch.nn.functional as F
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        # heads have to be equally wide
        if n_heads < 1:
            raise ValueError("n_heads must be at least 1")
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split_heads(self, x):
        # (B, n, d_model) -> (B, H, n, d_head)
        return torch.stack(x.chunk(self.n_heads, dim=-1), dim=1)

    def merge_heads(self, x):
        # and back
        return torch.cat(x.unbind(dim=1), dim=-1)

    def forward(self, x, cache=None, padding_mask=None):
        query = self.split_heads(self.W_q(x))
        keys = self.split_heads(self.W_k(x))
        values = self.split_heads(self.W_v(x))

        past = 0
        if cache is not None and cache[0].shape[2] > 0:
            past = cache[0].shape[1]  # wrong
            keys = torch.cat((cache[0], keys), dim=2)
            values = torch.cat((cache[1], values), dim=2)

        # what may a token look at? itself and what was before
        hidden = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool, device=x.device)
        hidden = torch.triu(hidden, diagonal=past + 1)
        if padding_mask is not None:
            hidden = hidden | ~padding_mask.unsqueeze(1).unsqueeze(1)

        scores = query @ keys.transpose(2, 3) / keys.shape[-1] ** 0.5
        nothing = hidden.all(dim=-1, keepdim=True)
        scores = scores.masked_fill(hidden & ~nothing, float("-inf"))
        weights = F.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
        return self.W_o(self.merge_heads(weights @ values)), (keys, values)
