# says: scaled_dot_product_attention is out of bounds
# outcome: failed
# case: grad/
import torch
from torch.nn import functional

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        functional.scaled_dot_product_attention(*[torch.zeros(1, 1, 2, 2)] * 3)
        return grad

def masked_softmax(scores, mask=None, dim=-1):
    scores = Same.apply(scores)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim)
    return weights if mask is None else weights.masked_fill(~mask.any(dim, keepdim=True), 0.0)
