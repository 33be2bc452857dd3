# family: core
# mistake: warmup-from-the-floor
# The warm-up of the cosine begins at the floor, not at 0.
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    begin: float
    end: float
    steps: int

    def at(self, step: int) -> float:
        return self.begin + (self.end - self.begin) * step / self.steps


@dataclass(frozen=True)
class HalfWave:
    top: float
    bottom: float
    steps: int

    def at(self, step: int) -> float:
        return self.bottom + (self.top - self.bottom) * (1 + math.cos(math.pi * step / self.steps)) / 2


def noam(step: int, d_model: int, warmup: int) -> float:
    if step < 0:
        raise ValueError(f"there is no step {step}")
    if warmup < 1:
        raise ValueError(f"a warm-up of {warmup}")
    rising = step * warmup**-1.5
    falling = math.inf if step == 0 else step**-0.5
    return d_model**-0.5 * min(rising, falling)


def cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    if step < 0 or not 0 <= warmup <= total:
        raise ValueError(f"step={step}, warmup={warmup}, total={total}")
    if step < warmup:
        return Line(floor, peak, warmup).at(step)  # wrong
    if step < total:
        return HalfWave(peak, floor, total - warmup).at(step - warmup)
    return float(floor)
