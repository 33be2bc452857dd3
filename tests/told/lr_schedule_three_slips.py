# kata: lr-schedule
# names: progress-of-all, warmup-from-the-floor, warmup-power
import math


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1:
        raise ValueError("bad")
    if step == 0:
        return 0.0
    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -0.5)  # wrong


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0 or warmup < 0 or warmup > total:
        raise ValueError("bad")
    if step < warmup:
        return floor + (peak - floor) * step / warmup  # wrong
    if step >= total:
        return floor
    progress = step / total  # wrong
    return floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2
