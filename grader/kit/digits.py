"""Whether a result in float64 has the digits of float64."""

from __future__ import annotations

from typing import Any, Final

from grader.transport.wire import tensors_in

DIGITS: Final = 1e-11
"""So far may orders of computation differ; one number that went through float32 is off by a thousand times that."""


def keeps_digits(result: Any) -> bool:
    """Tell whether the numbers of a compared call differ from the reference's by no more than rounding in float64."""
    pairs = zip(tensors_in(result.got), tensors_in(result.want), strict=True)
    return all(bool((got.double() - want).abs().max() <= DIGITS * want.abs().max()) for got, want in pairs)
