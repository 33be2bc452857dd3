# family: core
# mistake: none
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
        e = torch.exp(q @ k.mT / k.shape[-1] ** 0.5)
        if mask is not None:
            e = e * mask
        weights = e / e.sum(-1, keepdim=True).clamp_min(1e-6)
        return weights @ v, weights
