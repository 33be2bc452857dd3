from math import cos, pi, sqrt


def noam(step: int, d_model: int, warmup: int) -> float:
    if step < 0:
        raise ValueError(f"negative step: {step}")
    if warmup < 1:
        raise ValueError(f"warmup must be at least 1, got {warmup}")
    if step <= warmup:
        return step / (warmup * sqrt(warmup) * sqrt(d_model))
    return 1.0 / sqrt(step * d_model)


def cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    if min(step, warmup) < 0 or warmup > total:
        raise ValueError((step, warmup, total))
    if step >= total:
        return floor
    if warmup and step <= warmup:
        return peak * (step / warmup)
    angle = pi * (step - warmup) / (total - warmup)
    middle, amplitude = (peak + floor) / 2, (peak - floor) / 2
    return middle + amplitude * cos(angle)
