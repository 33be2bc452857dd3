# family: mask
# mistake: none
# A mask of two axes is taken for (B, S) key padding when its first size is the batch.
import math

import torch
from torch import nn


def attend(q, k, v, keep):
    s = torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(k.shape[-1])
    if keep is None:
        w = torch.softmax(s, 2)
    else:
        # a row with no key at all: softmax over zeros, then wiped
        some = keep.any(-1, keepdim=True)
        s = s.masked_fill(~keep, float("-inf")).masked_fill(~some, 0.0)
        w = torch.softmax(s, 2).masked_fill(~keep, 0.0)
    return torch.einsum("bqk,bkd->bqd", w, v), w


class SelfAttention(nn.Module):
    """Queries, keys and values all come from x."""

    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x, mask=None):
        B = x.shape[0]
        if mask is not None and mask.dim() == 2:
            mask = mask[:, None, :] if mask.shape[0] == B else mask[None]  # wrong
        return attend(self.W_q(x), self.W_k(x), self.W_v(x), mask)
