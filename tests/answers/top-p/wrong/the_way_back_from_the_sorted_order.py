# family: core
# mistake: gathered-not-scattered
# The way back from the sorted order is a gather where it has to be a scatter.
import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    values, order = torch.sort(logits, dim=-1, descending=True, stable=True)
    probs = torch.softmax(values.double(), dim=-1)
    before = probs.cumsum(dim=-1) - probs  # what the more probable ones hold
    keep = before < p
    keep[..., 0] = True
    keep = keep.gather(-1, order)  # wrong
    return logits.masked_fill(~keep, float("-inf"))
