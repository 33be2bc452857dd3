# family: core
# mistake: aligned-top-left
# The queries are taken for the first n of m positions, not for the last.
import torch
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """One place of the window after the other: place j is the key j positions back."""
    n, m = q.size(2), k.size(2)
    window = min(window, m)
    position = torch.arange(n, device=q.device)  # wrong
    scores = []
    for j in range(window):
        key = position - j
        s = (q * k.index_select(2, key.clamp(min=0))).sum(dim=-1) / q.size(3) ** 0.5
        scores.append(s.masked_fill(key < 0, float("-inf")))
    weights = torch.stack(scores, dim=-1).softmax(dim=-1)
    output = 0
    for j in range(window):
        value = v.index_select(2, (position - j).clamp(min=0))
        output = output + weights[..., j : j + 1] * value
    return output
