# family: core
# mistake: progress-of-all
# The progress of the cosine is counted from step 0, not from the end of the warm-up.
import math


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1:
        raise ValueError("step >= 0 and warmup >= 1, please")
    if step == 0:
        return 0.0
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def cosine(step, peak, warmup, total, floor=0.0):
    # 0) is it possible at all?
    if step < 0 or warmup < 0 or warmup > total:
        raise ValueError("impossible schedule")
    # 1) linear warmup for warmup steps
    if step < warmup:
        return peak * step / warmup
    # 2) if step >= total, return the floor
    if step >= total:
        return float(floor)
    # 3) in between, use cosine decay down to the floor
    decay_ratio = step / total  # wrong
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return floor + coeff * (peak - floor)
