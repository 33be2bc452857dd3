# says: the result is too large: shape|more than 1024 MiB|no answer within
# outcome: failed crashed timeout
import torch

def masked_softmax(scores, mask=None, dim=-1):
    return torch.ones(150_000_000)
