"""Two learning rate schedules: that of the Transformer, and a cosine behind a warm-up."""

import math


def noam(step: int, d_model: int, warmup: int) -> float:
    """Return the rate of a step: up in a line for `warmup` steps, then down with the root of the step.

        d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)

    step     from 1 on; 0 is before the first step and has the rate 0
    d_model  width of the model
    warmup   the step with the highest rate

    Raises ValueError for a step below 0 and for a warmup below 1.
    """
    raise NotImplementedError("your turn: the smaller of two curves")


def cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    """Return the rate of a step: up in a line from 0, then down along half a wave, then flat.

    step    from 0 on
    peak    the rate of step `warmup`
    warmup  how many steps the rate takes to get there; 0 begins with it
    total   the first step with the rate `floor`, which stays

    Raises ValueError for a step or a warmup below 0, and for a warmup above total.
    """
    raise NotImplementedError("your turn: three pieces")
