# family: core
# mistake: none
"""Subtracts the logsumexp instead of the maximum: at large scores it has few digits."""

import math
import torch
from torch import Tensor
from torch.nn import functional as F


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    n, m = (q.size(2), k.size(2))
    window = min(window, m)
    front = (0, 0, window - 1, 0)
    keys = F.pad(k, front).unfold(2, window, 1)[:, :, m - n :]
    values = F.pad(v, front).unfold(2, window, 1)[:, :, m - n :]
    last = torch.arange(m - n, m, device=q.device)[:, None]
    back = torch.arange(window - 1, -1, -1, device=q.device)
    visible = last - back >= 0
    scores = (q.unsqueeze(-2) @ keys).squeeze(-2) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~visible, float("-inf"))
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return (values @ weights.unsqueeze(-1)).squeeze(-1)
