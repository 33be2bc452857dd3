import math


def noam(step, d_model, warmup):
    if step < 0 or warmup <= 0:
        raise ValueError("step must be >= 0 and warmup >= 1")
    return 0.0 if not step else 1 / math.sqrt(d_model) * min(1 / math.sqrt(step), step / math.sqrt(warmup) ** 3)


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0 or warmup < 0 or warmup > total:
        raise ValueError("impossible schedule")
    if step < warmup and step < total:
        return step / warmup * peak
    left = total - warmup
    progress = min(1.0, (step - warmup) / left) if left else 1.0
    weight = (math.cos(progress * math.pi) + 1) / 2
    return weight * peak + (1 - weight) * floor
