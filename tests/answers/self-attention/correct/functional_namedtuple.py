from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v: Optional[int] = None, bias: bool = False):
        super().__init__()
        self.scale = d_k**0.5
        for name, width in (("W_q", d_k), ("W_k", d_k), ("W_v", d_k if d_v is None else d_v)):
            setattr(self, name, nn.Linear(d_model, width, bias=bias))

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Attended:
        q = F.linear(x, self.W_q.weight, self.W_q.bias)
        k = F.linear(x, self.W_k.weight, self.W_k.bias)
        v = F.linear(x, self.W_v.weight, self.W_v.bias)
        scores = q.matmul(k.transpose(1, 2)).div(self.scale)
        if mask is None:
            weights = F.softmax(scores, dim=2)
        else:
            bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
            bias.masked_fill_(mask.logical_not(), torch.finfo(scores.dtype).min)
            weights = F.softmax(torch.clamp(scores + bias, min=torch.finfo(scores.dtype).min), dim=2) * mask
        return Attended(weights.matmul(v), weights)
