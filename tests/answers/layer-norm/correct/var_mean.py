import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, weight, bias = x.float(), weight.float(), bias.float()
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    out = (x - mean) * torch.rsqrt(var + eps) * weight + bias
    return out.to(dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.normalized_shape = normalized_shape
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(normalized_shape))
        self.bias = nn.Parameter(torch.empty(normalized_shape))
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, eps=self.eps)
