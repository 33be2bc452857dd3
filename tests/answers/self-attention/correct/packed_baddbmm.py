import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.widths = [d_k, d_k, d_k if d_v is None else d_v]
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, w, bias=bias) for w in self.widths)

    def packed(self, x):
        layers = (self.W_q, self.W_k, self.W_v)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.W_q.bias is None else torch.cat([layer.bias for layer in layers])
        return nn.functional.linear(x, weight, bias).split(self.widths, dim=-1)

    def forward(self, x, mask=None):
        q, k, v = self.packed(x)
        start = x.new_zeros(())
        scores = torch.baddbmm(start, q, k.transpose(1, 2), beta=0, alpha=self.widths[0] ** -0.5)
        if x.dtype in (torch.float16, torch.bfloat16):
            scores = scores.float()
        if mask is not None:
            scores = scores.masked_fill(mask == False, float("-inf"))
            empty = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(empty, 0.0)
            weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)
        else:
            weights = scores.softmax(dim=-1)
        weights = weights.to(x.dtype)
        return weights @ v, weights
