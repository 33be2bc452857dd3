# family: grad
# mistake: nan-gradient
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        if mask is not None:
            additive = torch.zeros_like(mask, dtype=scores.dtype)
            additive[~mask] = float("-inf")
            scores = scores + additive
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        return weights @ v, weights
