"""Comparison of what came back with what is expected: structure, shape, dtype, device, NaN, values, in this order.

What came back is plain data by now (see :mod:`grader.sandbox.wire`); its claims about itself are not consulted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import torch

from grader.sandbox.wire import Foreign, dtype_name

TOLERANCE: Final = {
    torch.float64: 1e-6,
    torch.float32: 1e-5,
    torch.bfloat16: 3e-2,
    torch.float16: 5e-3,
}
"""``max|got - want| <= tolerance * max|want|``, by the dtype of the result: 34 times above the worst honest variant
that was measured in float32, 77 times below the smallest bug. float64 leaves room for a softmax that goes through
float32."""

SMALLEST_SCALE: Final = 1e-3
"""Where all expected values are smaller, errors are relative to this: exact zeros may be missed by rounding noise."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first difference that counts, as a sentence for the learner."""

    kind: str
    message: str


def tolerance(dtype: torch.dtype) -> float:
    """Return the relative tolerance of a dtype; 0 for integers and bools."""
    return TOLERANCE.get(dtype, 0.0)


def compare(got: Any, want: Any, dtype: torch.dtype, names: tuple[str, ...] = ()) -> Mismatch | None:
    """Compare a result with the reference's, which was computed in float64; ``dtype`` is that of the variant.

    A float64 tensor of the reference stands for the variant's dtype; any other dtype is expected as it is. ``names``
    are those of the values that come back, for the sentences.
    """
    whole = f"({', '.join(names)})" if names else ""
    return _compare(got, want, dtype, names[0] if len(names) == 1 else "", whole, names)


def _compare(
    got: Any, want: Any, dtype: torch.dtype, name: str, whole: str, names: tuple[str, ...] = ()
) -> Mismatch | None:
    if isinstance(want, torch.Tensor):
        return _compare_tensors(got, want, dtype, name)
    if isinstance(want, (tuple, list)):
        return _compare_sequences(got, want, dtype, name, whole, names)
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            return Mismatch(
                "structure", f"{_subject(name)} {_what(got)}, expected a dict with the keys {', '.join(want)}"
            )
        pairs = (_compare(got[key], want[key], dtype, _member(name, repr(key)), "") for key in want)
        return next((mismatch for mismatch in pairs if mismatch), None)
    if isinstance(want, float) and type(got) in (float, int):
        close = abs(got - want) <= TOLERANCE[torch.float64] * max(abs(want), SMALLEST_SCALE)
        return None if close else Mismatch("value", f"{_subject(name)} {got:.6g}, expected {want:.6g}")
    if type(got) is not type(want) or got != want:
        expected = "None" if want is None else repr(want)
        return Mismatch("value", f"{_subject(name)} {_what(got)}, expected {expected}")
    return None


def _compare_sequences(
    got: Any, want: Any, dtype: torch.dtype, name: str, whole: str, names: tuple[str, ...]
) -> Mismatch | None:
    kind = "list" if isinstance(want, list) else "tuple"
    expected = f"a {kind} of {len(want)}" + (f": {whole}" if whole else "")
    if not isinstance(got, (tuple, list)):
        return Mismatch("structure", f"{_subject(name)} {_what(got)}, expected {expected}")
    if len(got) != len(want):
        return Mismatch("structure", f"{_subject(name)} {len(got)} value{'s' * (len(got) != 1)}, expected {expected}")
    labels = names if len(names) == len(want) else [_member(name, str(index)) for index in range(len(want))]
    pairs = (_compare(g, w, dtype, label, "") for g, w, label in zip(got, want, labels, strict=True))
    return next((mismatch for mismatch in pairs if mismatch), None)


def _compare_tensors(got: Any, want: torch.Tensor, dtype: torch.dtype, name: str) -> Mismatch | None:
    label = f"`{name}`" if name else "the result"
    if not isinstance(got, torch.Tensor):
        return Mismatch("structure", f"{_subject(name)} {_what(got)}, expected a torch.Tensor of shape {shape(want)}")
    if got.shape != want.shape:
        zero_dim = ", a 0-dimensional tensor" if got.dim() == 0 else ""
        return Mismatch("shape", f"{label} has shape {shape(got)}{zero_dim}, expected {shape(want)}")
    expected = dtype if want.dtype == torch.float64 else want.dtype
    if got.dtype != expected:
        return Mismatch("dtype", f"{label} has dtype {dtype_name(got.dtype)}, expected {dtype_name(expected)}")
    return _compare_values(got, want, label, tolerance(expected))


def _compare_values(got: torch.Tensor, want: torch.Tensor, label: str, relative: float) -> Mismatch | None:
    if not got.dtype.is_floating_point:
        wrong = got != want
        if not bool(wrong.any()):
            return None
        index = _first(wrong)
        count = f"{int(wrong.sum())} of {wrong.numel()} entries differ"
        pair = f"expected {want[index].item()}, got {got[index].item()}"
        return Mismatch("value", f"first wrong entry {list(index)} of {label}: {pair}; {count}")
    got, want = got.double(), want.double()
    if not got.numel():
        return None
    error = (got - want).abs()
    scale, worst = float(want.abs().max()), float(error.max())  # NaN and infinity come through both
    if not math.isfinite(scale):
        raise AssertionError("the reference returned a value that is not finite")
    allowed = relative * max(scale, SMALLEST_SCALE)
    if worst <= allowed:
        return None
    bad = ~torch.isfinite(got)
    if bool(bad.any()):
        index = _first(bad)
        count = f"{int(bad.sum())} of {bad.numel()} entries are not finite"
        return Mismatch(
            "nan", f"{label} is {_number(got[index])} at {list(index)}, expected {_number(want[index])}; {count}"
        )
    wrong = error > allowed
    index = _first(wrong)
    pair = f"expected {_number(want[index])}, got {_number(got[index])}"
    count = f"{int(wrong.sum())} of {wrong.numel()} entries differ"
    size = f"largest error {worst:.2g}, tolerance {allowed:.0e}"
    return Mismatch("value", f"first wrong entry {list(index)} of {label}: {pair}; {count}, {size}")


def same_bits(first: Any, second: Any) -> bool:
    """Whether two results are equal bit for bit (NaN equals NaN)."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return bool(torch.equal(first.nan_to_num(nan=1e30), second.nan_to_num(nan=1e30)))
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(same_bits, first, second))
    return bool(first == second)


def agree(first: Any, second: Any) -> bool:
    """Whether two results of the same dtype are one behaviour: equal shapes, equal NaN, values within rounding."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        if not first.dtype.is_floating_point:
            return bool(torch.equal(first, second))
        one, two = first.double(), second.double()
        finite = torch.isfinite(one)
        if not all(torch.equal(kind(one), kind(two)) for kind in (torch.isfinite, torch.isnan, torch.isposinf)):
            return False
        one, two = one[finite], two[finite]
        if not one.numel():
            return True
        allowed = tolerance(first.dtype) * max(float(two.abs().max()), SMALLEST_SCALE)
        return float((one - two).abs().max()) <= allowed
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(agree, first, second))
    if isinstance(first, Foreign) or isinstance(second, Foreign):
        return isinstance(first, Foreign) and isinstance(second, Foreign) and first.what == second.what
    return type(first) is type(second) and bool(first == second)


def shape(tensor: torch.Tensor) -> str:
    """Return a shape as it is written in the briefs: ``(2, 5, 8)``."""
    return str(tuple(tensor.shape))


def _first(wrong: torch.Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in wrong.nonzero()[0])


def _number(value: torch.Tensor) -> str:
    number = float(value)
    if number != number:  # noqa: PLR0124 - NaN
        return "NaN"
    return f"{number:.4f}" if 1e-3 <= abs(number) < 1e4 or number == 0 else f"{number:.4g}"


def _subject(name: str) -> str:
    return f"`{name}` is" if name else "your code returned"


def _member(name: str, part: str) -> str:
    return f"{name}[{part}]" if name else f"value {part}"


def _what(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Foreign):
        return value.what
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {shape(value)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict of {len(value)}"
    return f"the {type(value).__name__} {value!r}"[:80]
