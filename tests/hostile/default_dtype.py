# says: your file changes PyTorch's default dtype
# outcome: failed
import torch

torch.set_default_dtype(torch.float64)


def masked_softmax(scores, mask=None, dim=-1):
    hidden = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask.broadcast_to(scores.shape)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim)
    return weights.masked_fill(hidden, 0.0)
