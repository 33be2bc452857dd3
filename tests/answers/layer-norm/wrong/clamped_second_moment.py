# family: dtype
# mistake: squares-minus-square
"""Second moment minus squared mean: far from zero float64 keeps half of its digits."""
import torch
from torch import nn


def _wide(t):
    return t if t.dtype == torch.float64 else t.float()


def layer_norm(x, weight, bias, eps=1e-5):
    h = _wide(x)
    d = h.shape[-1]
    mu = torch.einsum("...d->...", h) / d
    second = torch.einsum("...d,...d->...", h, h) / d
    sigma = (second - mu**2).clamp(min=0).add(eps).sqrt()
    normed = (h - mu.unsqueeze(-1)) / sigma.unsqueeze(-1)
    return torch.addcmul(_wide(bias), normed, _wide(weight)).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((normalized_shape,), 1.0))
        self.bias = nn.Parameter(torch.full((normalized_shape,), 0.0))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
