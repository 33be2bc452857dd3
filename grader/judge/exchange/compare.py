"""Comparison of what came back with what is expected: structure, shape, dtype, device, NaN, values, in this order.

What came back is plain data by now (see :mod:`grader.transport.wire`); its claims about itself are not consulted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch

from grader.judge.failure import Failure
from grader.judge.tolerance import GRADIENT_SLACK, Moved, Tolerance, allowed, exceeds, part, relative, tolerance
from grader.language import _, plural
from grader.transport.sentences import value_in_words
from grader.transport.wire import Foreign, dtype_name

MOST_DIGITS: Final = 17
"""So many tell any two numbers of float64 apart."""
_MOST_OF_A_TEXT: Final = 60
"""So many characters of a wrong text are shown."""


def compare(
    got: Any, want: Any, dtype: torch.dtype, names: tuple[str, ...] = (), moved: Moved = None
) -> Failure | None:
    """Compare a result with the reference's, which was computed in float64; ``dtype`` is that of the variant.

    Returns the first difference that counts, as the failure of the case; None where there is none.

    A float64 tensor of the reference stands for the variant's dtype; any other dtype is expected as it is. ``names``
    are those of the values that come back, for the sentences; ``moved`` is how far they move by rounding.
    """
    whole = f"({', '.join(names)})" if names else ""
    return _compare(got, want, dtype, names[0] if len(names) == 1 else "", moved, whole, names)


def _compare(
    got: Any, want: Any, dtype: torch.dtype, name: str, moved: Moved, whole: str = "", names: tuple[str, ...] = ()
) -> Failure | None:
    if isinstance(want, torch.Tensor):
        return _compare_tensors(got, want, dtype, name, moved)
    if isinstance(want, (tuple, list)):
        return _compare_sequences(got, want, dtype, name, moved, whole, names)
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            expected = _("a dict with the keys {keys}").format(keys=", ".join(want))
            return _unexpected("structure", name, in_brief(got), expected)
        pairs = (_compare(got[key], want[key], dtype, _member(name, repr(key)), part(moved, key)) for key in want)
        return next((failure for failure in pairs if failure), None)
    if isinstance(want, float) and type(got) in (float, int):
        exceeded = exceeds(abs(got - want), dtype, abs(want), moved)
        return _unexpected("value", name, *_apart((got, want), 6), exceeded) if exceeded else None
    if type(got) is not type(want) or got != want:
        if isinstance(want, str):
            return _unexpected("value", name, *_where_they_part(got, want))
        expected = "None" if want is None else repr(want)
        return _unexpected("value", name, in_brief(got), expected)
    return None


def _where_they_part(got: Any, want: str) -> tuple[str, str]:
    """Write what came and the text that was expected; of long ones what stands around the first difference."""
    if not isinstance(got, str):
        return in_brief(got), _piece(want, 0)
    pairs = enumerate(zip(got, want, strict=False))
    at = next((at for at, (one, two) in pairs if one != two), min(len(got), len(want)))
    start = max(0, at - 20) if max(len(got), len(want)) > _MOST_OF_A_TEXT else 0
    return _("the {kind} {value}").format(kind="str", value=_piece(got, start)), _piece(want, start)


def _piece(text: str, start: int) -> str:
    piece = text[start : start + _MOST_OF_A_TEXT]
    return ("… " if start else "") + repr(piece) + (" …" if start + len(piece) < len(text) else "")


def _compare_sequences(
    got: Any, want: Any, dtype: torch.dtype, name: str, moved: Moved, whole: str, names: tuple[str, ...]
) -> Failure | None:
    expected = in_brief(want) + (f": {whole}" if whole else "")
    if not isinstance(got, (tuple, list)):
        return _unexpected("structure", name, in_brief(got), expected)
    if len(got) != len(want):
        count = plural("{count} value", "{count} values", len(got)).format(count=len(got))
        return _unexpected("structure", name, count, expected)
    labels = names if len(names) == len(want) else [_member(name, str(index)) for index in range(len(want))]
    each = enumerate(zip(got, want, labels, strict=True))
    pairs = (_compare(g, w, dtype, label, part(moved, index)) for index, (g, w, label) in each)
    return next((failure for failure in pairs if failure), None)


def _compare_tensors(got: Any, want: torch.Tensor, dtype: torch.dtype, name: str, moved: Moved) -> Failure | None:
    label = f"`{name}`" if name else _("the result")
    if not isinstance(got, torch.Tensor):
        expected_shape = _("a torch.Tensor of shape {shape}").format(shape=shape(want))
        return _unexpected("structure", name, in_brief(got), expected_shape)
    if got.shape != want.shape:
        sentence = _("{label} has shape {shape}, expected {expected}")
        if got.dim() == 0:
            sentence = _("{label} has shape {shape}, a 0-dimensional tensor, expected {expected}")
        return Failure("shape", sentence.format(label=label, shape=shape(got), expected=shape(want)))
    expected = dtype if want.dtype == torch.float64 else want.dtype
    if got.dtype != expected:
        sentence = _("{label} has dtype {dtype}, expected {expected}")
        names = {"dtype": dtype_name(got.dtype), "expected": dtype_name(expected)}
        return Failure("dtype", sentence.format(label=label, **names))
    return _compare_values(got, want, label, moved)


def compare_gradient(
    got: Any, want: torch.Tensor, dtype: torch.dtype, label: str, moved: float | None = None
) -> Failure | None:
    """Compare a gradient with the reference's, in float64; ``moved`` is how far it moves by rounding."""
    if not isinstance(got, torch.Tensor) or got.shape != want.shape or got.dtype != dtype:
        return compare(got, want, dtype, (label,))
    return _compare_values(got, want, f"`{label}`", moved, GRADIENT_SLACK)


def _compare_values(
    got: torch.Tensor, want: torch.Tensor, label: str, moved: float | None, slack: float = 1.0
) -> Failure | None:
    if not got.dtype.is_floating_point:
        wrong = got != want
        if not bool(wrong.any()):
            return None
        return Failure("value", _first_wrong(wrong, label, lambda index: (want[index].item(), got[index].item())))
    dtype, got, want = got.dtype, got.double(), want.double()
    if not got.numel():
        return None
    endless = want.isinf()
    if bool(endless.any()):  # infinities stand where they must; the rest is compared as always
        wrong = (endless != got.isinf()) & ~got.isnan() | endless & (got != want)
        if bool(wrong.any()):
            infinite = got, want
            return Failure("value", _first_wrong(wrong, label, lambda index: _numbers(index, *infinite)))
        got, want = got.masked_fill(endless, 0.0), want.masked_fill(endless, 0.0)
    error = (got - want).abs()
    scale, worst = float(want.abs().max()), float(error.max())  # NaN and infinity come through both
    if not math.isfinite(scale):
        raise AssertionError("the reference returned a value that is not finite")
    room = exceeds(worst, dtype, scale, moved, slack)
    if room is None:
        return None
    bad = ~torch.isfinite(got)
    if bool(bad.any()):
        index = _first(bad)
        sentence = _("{label} is {got} at {index}, expected {want}; {count} of {total} entries are not finite")
        found = {"got": _number(got[index]), "want": _number(want[index]), "index": list(index)}
        counts = {"count": int(bad.sum()), "total": bad.numel()}
        return Failure("nan", sentence.format(label=label, **found, **counts))
    wrong = error > room.most
    first = _first_wrong(wrong, label, lambda index: _numbers(index, got, want))
    worst_text, allowed_text = _apart((worst, room.most), 2)
    size = _("largest error {worst}, tolerance {allowed}").format(worst=worst_text, allowed=allowed_text)
    sentence = _("{first}, {size}").format(first=first, size=size)
    return Failure("value", sentence, tolerance=room, times=worst / room.most)


def tolerance_of(want: torch.Tensor, dtype: torch.dtype, moved: float | None = None, slack: float = 1.0) -> Tolerance:
    """Return how far numbers may be from those of the reference's tensor in a variant of that dtype."""
    expected = dtype if want.dtype == torch.float64 else want.dtype
    finite = want[want.isfinite()] if expected.is_floating_point else want.new_empty(0)
    return tolerance(expected, float(finite.abs().max()) if finite.numel() else 0.0, moved, slack)


def tolerances(want: Any, dtype: torch.dtype, moved: Moved = None) -> Iterator[Tolerance]:
    """Yield the same for each tensor of a result, in order."""
    if isinstance(want, torch.Tensor):
        yield tolerance_of(want, dtype, moved)
    elif isinstance(want, (tuple, list)):
        for index, item in enumerate(want):
            yield from tolerances(item, dtype, part(moved, index))


def same_bits(first: Any, second: Any) -> bool:
    """Whether two results hold the same numbers to the last bit (NaN equals NaN, 0 equals -0)."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return bool(((first == second) | (first.isnan() & second.isnan())).all())
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
        largest = float(two.abs().max()) if two.numel() else 0.0
        if not math.isfinite(largest):
            finite = torch.isfinite(one)
            if not all(torch.equal(kind(one), kind(two)) for kind in (torch.isfinite, torch.isnan, torch.isposinf)):
                return False
            one, two = one[finite], two[finite]
            largest = float(two.abs().max()) if two.numel() else 0.0
        if not one.numel():
            return True
        return float((one - two).abs().max()) <= allowed(largest, relative(first.dtype))
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(agree, first, second))
    if isinstance(first, Foreign) or isinstance(second, Foreign):
        return isinstance(first, Foreign) and isinstance(second, Foreign) and first.what == second.what
    if type(first) is float and type(second) is float:  # a sum may have been made in float32
        share = relative(torch.float32)
        return first == second or math.isclose(first, second, rel_tol=share, abs_tol=allowed(0.0, share))
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


def _numbers(index: tuple[int, ...], got: torch.Tensor, want: torch.Tensor) -> tuple[str, str]:
    """Write the expected number and the one that came."""
    one, two = _number(want[index]), _number(got[index])
    return (one, two) if one != two else _apart((float(want[index]), float(got[index])), 6)


def _apart(numbers: tuple[float, float], digits: int) -> tuple[str, str]:
    """Write two numbers with so many digits, or as many as it takes to tell them apart."""
    texts = [(f"{numbers[0]:.{count}g}", f"{numbers[1]:.{count}g}") for count in range(digits, MOST_DIGITS + 1)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[-1])


def _first_wrong(wrong: torch.Tensor, label: str, pair: Callable[[tuple[int, ...]], tuple[object, object]]) -> str:
    """Say where the first wrong entry is, what stands there and should (``pair``: expected, got), and how many are."""
    index = _first(wrong)
    expected, got = pair(index)
    if not index:
        return _("{label}: expected {expected}, got {got}").format(label=label, expected=expected, got=got)
    sentence = _(
        "first wrong entry {index} of {label}: expected {expected}, got {got}; {count} of {total} entries differ"
    )
    counts = {"count": int(wrong.sum()), "total": wrong.numel()}
    return sentence.format(index=list(index), label=label, expected=expected, got=got, **counts)


def _unexpected(kind: str, name: str, got: str, expected: str, tolerance: Tolerance | None = None) -> Failure:
    sentence = (
        _("`{name}` is {got}, expected {expected}") if name else _("your code returned {got}, expected {expected}")
    )
    return Failure(kind, sentence.format(name=name, got=got, expected=expected), tolerance=tolerance)


def _member(name: str, part: str) -> str:
    return f"{name}[{part}]" if name else _("result[{part}]").format(part=part)


def in_brief(value: Any) -> str:
    """Say in a few words what a value is."""
    if value is None:
        return "None"
    if isinstance(value, Foreign):
        return value_in_words(value.what)
    if isinstance(value, torch.Tensor):
        return _("a tensor of shape {shape}").format(shape=shape(value))
    if isinstance(value, (tuple, list)):
        sentence = _("a list of {count}") if isinstance(value, list) else _("a tuple of {count}")
        return sentence.format(count=len(value))
    if isinstance(value, dict):
        return _("a dict of {count}").format(count=len(value))
    return _("the {kind} {value}").format(kind=type(value).__name__, value=repr(value))[:80]
