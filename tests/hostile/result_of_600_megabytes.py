# says: the result is too large: shape
# outcome: failed timeout
import torch

def masked_softmax(scores, mask=None, dim=-1):
    return torch.ones(150_000_000)
