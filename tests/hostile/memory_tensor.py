# says: out of memory|more than 1024 MiB
# outcome: failed crashed
import torch
def masked_softmax(scores, mask=None, dim=-1):
    return torch.zeros(4 * 10**9)
