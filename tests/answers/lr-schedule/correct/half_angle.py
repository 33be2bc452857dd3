import math


def _check(ok):
    if not ok:
        raise ValueError("these numbers make no schedule")


def noam(step, d_model, warmup):
    _check(step >= 0 and warmup >= 1)
    curves = [step * math.pow(warmup, -1.5)]
    if step:
        curves.append(math.pow(step, -0.5))
    return math.pow(d_model, -0.5) * min(curves)


def cosine(step, peak, warmup, total, floor=0.0):
    _check(step >= 0 and 0 <= warmup <= total)
    step = min(step, total)
    if step == total:
        return floor
    if step < warmup:
        return peak / warmup * step
    # (1 + cos x) / 2 is the square of cos(x / 2)
    share = math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2
    return floor + share * (peak - floor)
