# family: core
# mistake: no-guard-for-zero
# With p = 0 no token survives.
import torch


def nucleus(probs, p):
    """(..., vocab) sorted from large to small -> bool, which of them are kept"""
    mass_before = probs.cumsum(-1).roll(1, -1)
    mass_before[..., 0] = 0
    return mass_before < p  # wrong


def top_p_filter(logits, p):
    if p == 1:
        return logits
    values, ids = logits.sort(dim=-1, descending=True, stable=True)
    keep_sorted = nucleus(values.double().softmax(-1), p)
    inverse = ids.argsort(-1)
    keep = keep_sorted.gather(-1, inverse)
    return logits.masked_fill(~keep, -float("inf"))
