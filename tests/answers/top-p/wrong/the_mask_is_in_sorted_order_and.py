# family: core
# mistake: mask-in-sorted-order
# The mask is in sorted order and is never brought back to the columns.
import torch
import torch.nn.functional as F
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p == 1:
        return logits.clone()
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    probs = F.softmax(logits.to(torch.float64), dim=-1).gather(-1, order)
    before = F.pad(probs.cumsum(-1), (1, -1))
    remove = before >= p
    remove[..., 0] = False
    return torch.where(remove, torch.full_like(logits, -torch.inf), logits)  # wrong
