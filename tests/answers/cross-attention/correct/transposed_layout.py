import torch
from torch import nn
from torch.nn import functional as F


class CrossAttention(nn.Module):
    """Works on columns: scores are (B, m, n) and the softmax runs over axis 1."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        self.temperature = d_k**0.5
        context = d_context or d_model
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(context, d_k, bias=bias)
        self.W_v = nn.Linear(context, d_v or d_k, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        asked = self.W_q(x_q).transpose(1, 2)
        scores = self.W_k(x_kv).bmm(asked) / self.temperature
        if mask is not None:
            keep = mask.transpose(-2, -1).expand_as(scores)
            scores = scores.masked_fill(keep.logical_not(), torch.finfo(scores.dtype).min)
            columns = F.softmax(scores, dim=1) * keep
        else:
            columns = F.softmax(scores, dim=1)
        output = self.W_v(x_kv).transpose(1, 2).bmm(columns).transpose(1, 2)
        return output.contiguous(), columns.transpose(1, 2)
