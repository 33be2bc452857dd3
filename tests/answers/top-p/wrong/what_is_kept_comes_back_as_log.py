# family: core
# mistake: log-probabilities-returned
# What is kept comes back as log-probabilities instead of as the logits that were handed in.
from __future__ import annotations

import math

import torch
from torch import Tensor


def _nucleus(logp: Tensor, order: Tensor, p: float) -> Tensor:
    """True for the tokens of the nucleus, in their own columns."""
    mass = logp.gather(-1, order).to(torch.float64).exp()
    earlier = torch.cat([torch.zeros_like(mass[..., :1]), mass.cumsum(-1)[..., :-1]], dim=-1)
    member = earlier < p
    member[..., :1] = True
    return torch.zeros_like(member).scatter(-1, order, member)


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1.0:
        return logits
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    logp = torch.log_softmax(logits, dim=-1)
    nucleus = _nucleus(logp, order, p)
    return logp.masked_fill(~nucleus, -math.inf)  # wrong
