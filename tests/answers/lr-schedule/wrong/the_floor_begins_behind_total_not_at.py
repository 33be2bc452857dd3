# family: core
# mistake: end-after-the-warmup
# The floor begins behind total, not at total: with warmup = total that step divides by zero.
import math


def noam(step: int, d_model: int, warmup: int) -> float:
    if step < 0:
        raise ValueError(f"there is no step {step}")
    if warmup < 1:
        raise ValueError(f"a warm-up takes at least one step, not {warmup}")
    if step == 0:
        return 0.0
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    if step < 0 or warmup < 0:
        raise ValueError("step and warmup must not be negative")
    if warmup > total:
        raise ValueError("the warm-up is longer than the training")
    if step > total:  # wrong
        return float(floor)
    if step < warmup:
        return float(peak * step / warmup)
    progress = (step - warmup) / (total - warmup)
    return float(floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2)
