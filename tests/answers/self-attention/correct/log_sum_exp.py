import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.inv_temperature = 1.0 / math.sqrt(d_k)

    def forward(self, x, mask=None):
        scores = self.inv_temperature * (self.W_q(x) @ torch.transpose(self.W_k(x), 1, 2))
        if mask is not None:
            mask = mask.broadcast_to(scores.shape)
            scores[~mask] = torch.finfo(scores.dtype).min
        scores = scores - scores.detach().amax(dim=-1, keepdim=True)  # or the logarithm has few digits
        weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
        if mask is not None:
            weights = weights * mask.to(weights.dtype)
        return weights @ self.W_v(x), weights
