# family: mask
# mistake: fill-minus-a-billion
# Hidden keys get a score of -1e9 (in halves the lowest number), which visible scores may be far below.
import torch
from torch import nn


class CrossAttention(nn.Module):
    """One head: x_q asks, x_kv answers."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        if d_v is None:
            d_v = d_k
        if d_context is None:
            d_context = d_model
        self.scale = d_k**-0.5
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        q = self.W_q(x_q) * self.scale
        scores = torch.einsum("bnd,bmd->bnm", q, self.W_k(x_kv))
        if mask is not None:
            low = max(-1e9, torch.finfo(scores.dtype).min)
            scores = scores.masked_fill(~mask, low)  # wrong
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            # what is hidden has no weight at all
            weights = weights.masked_fill(~mask, 0.0)
        return torch.einsum("bnm,bmv->bnv", weights, self.W_v(x_kv)), weights
