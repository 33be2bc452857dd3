"""Two learning rate schedules: that of the Transformer, and a cosine behind a warm-up.

    noam(s)   = d_model^-0.5 * min(s^-0.5, s * warmup^-1.5)
    cosine(s) = peak * s / warmup                                            while s < warmup
              = floor + (peak - floor) * (1 + cos(π * progress)) / 2         then, progress from 0 to 1 at `total`

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 5.3; Loshchilov and Hutter 2017, "SGDR:
Stochastic Gradient Descent with Warm Restarts" (arXiv:1608.03983), equation 5.
"""

import math


def noam(step: int, d_model: int, warmup: int) -> float:
    """Return the rate of a step: up in a line for `warmup` steps, then down with the root of the step.

    step     from 1 on; 0 is before the first step and has the rate 0
    d_model  width of the model
    warmup   the step with the highest rate

    Raises ValueError for a step below 0 and for a warmup below 1.
    """
    if step < 0 or warmup < 1:
        raise ValueError(f"there is no step {step} with a warmup of {warmup}")
    if step == 0:
        return 0.0
    rising = step * warmup**-1.5
    falling = step**-0.5
    return d_model**-0.5 * min(rising, falling)


def cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    """Return the rate of a step: up in a line from 0, then down along half a wave, then flat.

    step    from 0 on
    peak    the rate of step `warmup`
    warmup  how many steps the rate takes to get there; 0 begins with it
    total   the first step with the rate `floor`, which stays

    Raises ValueError for a step or a warmup below 0, and for a warmup above total.
    """
    if step < 0 or not 0 <= warmup <= total:
        raise ValueError(f"there is no step {step} with a warmup of {warmup} out of {total}")
    if step >= total:
        return floor
    if step < warmup:
        return peak * step / warmup
    progress = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * progress))
