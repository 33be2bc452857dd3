# family: device
# mistake: numpy-detour
import numpy as np
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x, mask=None):
        scores = self.W_q(x) @ self.W_k(x).transpose(1, 2) / self.W_k.out_features**0.5
        if mask is not None:
            hidden = torch.from_numpy(np.logical_not(mask.numpy()))
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(hidden, 0.0)
        return weights @ self.W_v(x), weights
