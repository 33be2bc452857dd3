import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v=None, d_context=None, bias: bool = False):
        super().__init__()
        d_v, d_context = d_v or d_k, d_context or d_model
        self.q_scale = 1 / d_k**0.5
        self.W_q = nn.Linear(d_model, d_k, bias)
        self.W_k = nn.Linear(d_context, d_k, bias)
        self.W_v = nn.Linear(d_context, d_v, bias)

    def forward(self, x_q, x_kv, mask=None):
        dtype = x_q.dtype
        wide = torch.promote_types(dtype, torch.float32)
        q = F.linear(x_q, self.W_q.weight, self.W_q.bias).to(wide)
        k = F.linear(x_kv, self.W_k.weight, self.W_k.bias).to(wide)
        v = F.linear(x_kv, self.W_v.weight, self.W_v.bias).to(wide)
        scores = torch.matmul(q, k.transpose(-1, -2)).mul_(self.q_scale)
        if mask is not None:
            scores.masked_fill_(~mask, float("-inf"))
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        return torch.matmul(weights, v).to(dtype), weights.to(dtype)
