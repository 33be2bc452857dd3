# family: core
# mistake: rises-again
# The floor holds at step total alone: behind it the wave goes up again.
import math


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1: raise ValueError
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step else 0.0


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0 or warmup < 0 or warmup > total: raise ValueError
    if step < warmup: return peak * step / warmup
    if step == total: return float(floor)  # wrong
    return floor + (peak - floor) * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup))) / 2
