# family: core
# mistake: floor-on-top
# The wave has the height of the peak, not of the peak above the floor.
from math import cos, pi, sqrt


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def noam(step, d_model, warmup):
    _require(step >= 0, "step < 0")
    _require(warmup >= 1, "warmup < 1")
    up = step / (warmup * sqrt(warmup))
    down = 1 / sqrt(step) if step else float("inf")
    return min(up, down) / sqrt(d_model)


def _wave(progress):
    """From 1 at 0 to 0 at 1."""
    return (1 + cos(pi * progress)) / 2


def cosine(step, peak, warmup, total, floor=0.0):
    _require(step >= 0, "step < 0")
    _require(0 <= warmup <= total, "warmup is not between 0 and total")
    if step >= total:
        return float(floor)
    if step < warmup:
        return step / warmup * peak
    return floor + peak * _wave((step - warmup) / (total - warmup))  # wrong
