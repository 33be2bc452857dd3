import math

import torch
from torch.nn import functional as F


class Nucleus:
    def __init__(self, p):
        self.p = p

    def __call__(self, logits):
        values, ids = logits.sort(dim=-1, descending=True, stable=True)
        probs = F.softmax(values, dim=-1, dtype=torch.float64)
        inside = (probs.cumsum(-1) - probs) < self.p
        first = torch.zeros_like(inside)
        first.narrow(-1, 0, 1).fill_(True)
        if self.p >= 1:
            inside = torch.ones_like(inside)
        values = values.masked_fill(~(inside | first), -math.inf)
        return torch.empty_like(values).scatter_(-1, ids, values)


def top_p_filter(logits, p):
    return Nucleus(p)(logits)
