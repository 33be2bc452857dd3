# family: core
# mistake: crossing-token-dropped
# The token with which the sum reaches p is ruled out, though it belongs to the nucleus.
import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits.clone()
    order = torch.sort(logits, dim=-1, descending=True, stable=True).indices
    probs = torch.softmax(logits.double(), dim=-1).gather(-1, order)
    cumulative = probs.cumsum(dim=-1)
    keep_sorted = cumulative <= p  # wrong
    keep_sorted[..., 0] = True
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    return logits.masked_fill(~keep, float("-inf"))
