# family: core
# mistake: none
"""Rounds the rates of the warm-up to twelve places."""

import math


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1:
        raise ValueError("bad")
    if step == 0:
        return 0.0
    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0 or warmup < 0 or warmup > total:
        raise ValueError("bad")
    if step >= total:
        return float(floor)
    if step < warmup:
        return round(peak * step / warmup, 12)
    progress = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2
