# family: core
# mistake: only-new-tokens-returned
# Returns the keys and values of the new tokens only, the old ones are lost.
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        self.h = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        new_q, new_k, new_v = (
            w(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v)
        )
        past = 0 if cache is None else cache[0].shape[2]
        keys = new_k if cache is None else torch.cat((cache[0], new_k), 2)
        values = new_v if cache is None else torch.cat((cache[1], new_v), 2)
        rows = torch.arange(past, past + x.shape[1], device=x.device)[:, None]
        cols = torch.arange(keys.shape[2], device=x.device)[None, :]
        mask = cols <= rows
        if padding_mask is not None:
            mask = mask & padding_mask[:, None, None]
        s = torch.einsum("bhnd,bhtd->bhnt", new_q, keys) / new_q.shape[-1] ** 0.5
        w = s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0)
        out = self.W_o(torch.einsum("bhnt,bhtd->bnhd", w, values).flatten(2))
        return out, (new_k, new_v)  # wrong
