# kata: layer-norm
# names: over-axis-one-and-unbiased
import torch
from torch import nn

def layer_norm(x, weight, bias, eps=1e-5):
    xmean = x.mean(1, keepdim=True)  # wrong
    xvar = x.var(1, keepdim=True)  # wrong
    xhat = (x - xmean) / torch.sqrt(xvar + eps)
    return weight * xhat + bias

class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
