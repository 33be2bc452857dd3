# family: core
# mistake: noam-step-zero-is-one
# Step 0 of noam is treated as step 1, its rate is not 0.
import math


def noam(step, d_model, warmup):
    # check first
    if step < 0:
        raise ValueError("step must be 0 or more")
    if warmup < 1:
        raise ValueError("warmup must be 1 or more")
    # 0 ** -0.5 would be an error
    step = max(step, 1)  # wrong
    rising = step * math.pow(warmup, -1.5)
    falling = math.pow(step, -0.5)
    if rising < falling:
        factor = rising
    else:
        factor = falling
    return math.pow(d_model, -0.5) * factor


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0:
        raise ValueError("step must be 0 or more")
    if warmup < 0:
        raise ValueError("warmup must be 0 or more")
    if warmup > total:
        raise ValueError("warmup must not exceed total")
    # flat
    if step >= total:
        rate = floor
    # up
    elif step < warmup:
        rate = peak * (step / warmup)
    # down
    else:
        angle = math.pi * (step - warmup) / (total - warmup)
        rate = floor + 0.5 * (peak - floor) * (1.0 + math.cos(angle))
    return float(rate)
