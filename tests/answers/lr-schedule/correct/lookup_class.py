import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Cosine:
    peak: float
    warmup: int
    total: int
    floor: float

    def __post_init__(self):
        if self.warmup < 0 or self.total < self.warmup:
            raise ValueError(self)

    def at(self, step):
        if step < 0:
            raise ValueError(step)
        pieces = (
            (step >= self.total, lambda: self.floor),
            (step < self.warmup, lambda: self.peak * step / self.warmup),
            (True, lambda: self.wave((step - self.warmup) / (self.total - self.warmup))),
        )
        return next(rate() for applies, rate in pieces if applies)

    def wave(self, progress):
        return self.floor + 0.5 * (self.peak - self.floor) * (1.0 + math.cos(progress * math.pi))


def cosine(step, peak, warmup, total, floor=0.0):
    return Cosine(peak, warmup, total, floor).at(step)


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1:
        raise ValueError((step, warmup))
    try:
        return d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))
    except ZeroDivisionError:
        return 0.0
