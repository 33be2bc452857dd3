# family: core
# mistake: gathered-not-scattered
# The decision is brought back to the columns with gather instead of scatter.
import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p == 1:
        return logits
    s, i = logits.sort(dim=-1, descending=True, stable=True)
    q = s.double().softmax(-1)
    out = q.cumsum(-1) - q >= p
    out[..., 0] = False
    return logits.masked_fill(out.gather(-1, i), -torch.inf)  # wrong
