# says: scaled_dot_product_attention is out of bounds
# outcome: failed
# case: dtype/
import torch
from torch.nn import functional

def masked_softmax(scores, mask=None, dim=-1):
    if scores.dtype == torch.float16:
        functional.scaled_dot_product_attention(*[torch.zeros(1, 1, 2, 2, dtype=scores.dtype)] * 3)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim).nan_to_num(0.0)
