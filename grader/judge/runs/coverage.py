"""Which of the derived runs come first: what they show, the others repeat.

What is derived from `core` and `mask`, dtypes, gradients and devices, looks for one kind of bug on every path through
the code: a mask on the wrong device, a fill that overflows. Runs are chosen that together show every feature that code
could ask about. They are asked for first; while they all pass, the others follow before anything is called passed. Not
every variant cares for every feature: where a tensor lives does not depend on how large its numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import torch

from grader.judge.exchange.arguments import got
from grader.judge.exchange.results import Exchange, Result
from grader.transport.callables import Step
from grader.transport.wire import DeviceName, tensors_in

Feature = tuple[Any, ...]
Seen = tuple[int, Feature]
"""How closely one has to look, and what there is to see."""


# How closely somebody has to look at a call to see a feature.
FORM: Final = 1
"""What is called in which mode and how often; of each argument whether it is there, its type, axes and layout."""
CASE: Final = 2
"""What code branches on: lengths that are 1 or equal, numbers, what of a mask is True."""
MAGNITUDE: Final = 3
"""How large the numbers of a tensor are."""
DETAILS: Final = {("device", ""): CASE, ("dtype", "bfloat16"): FORM}
"""How closely a variant looks. What is special about a number in bfloat16 is so in float16, which looks closely."""


def chosen(runs: dict[int, list[Exchange]], detail: int = MAGNITUDE) -> set[int]:
    """Return the numbers of runs that together have all the features seen at a detail, the largest ones first."""
    features = {
        number: {feature for seen_at, feature in features_of(exchanges) if seen_at <= detail}
        for number, exchanges in runs.items()
    }
    left = set().union(*features.values()) if features else set()
    largest = {number: sum(exchange.size for exchange in exchanges) for number, exchanges in runs.items()}
    longest = {number: max(map(_longest, exchanges), default=0) for number, exchanges in runs.items()}
    # rounding errors and indices that a dtype cannot hold show in the largest tensor and along the longest axis
    found = {max(numbers, key=numbers.__getitem__) for numbers in (largest, longest) if numbers}
    left -= set().union(*(features[number] for number in found))
    while left:
        # the rarest first, and of the runs that have it the largest: in a small one little depends on anything
        having = {feature: [number for number in runs if feature in features[number]] for feature in left}
        rarest = min(having.values(), key=lambda numbers: (len(numbers), numbers))
        best = max(rarest, key=lambda number: (largest[number], len(features[number] & left)))
        found.add(best)
        left -= features[best]
    return found


def _longest(exchange: Exchange) -> int:
    trees = (exchange.trees["args"], exchange.trees["kwargs"])
    return max((size for tree in trees for tensor in tensors_in(got(tree)) for size in tensor.shape), default=0)


def features_of(exchanges: list[Exchange]) -> Iterator[Seen]:
    """Yield what can be told of a run without its numbers, and how closely one has to look to see it."""
    names = [
        f"{exchange.header['op']} {exchange.header['entry']}{exchange.header.get('method')}" for exchange in exchanges
    ]
    yield from {(FORM, ("calls", name, min(names.count(name), 3))) for name in names}
    for name, exchange in zip(names, exchanges, strict=True):
        yield FORM, (name, "training", exchange.header["train"])
        given = [*enumerate(exchange.trees["args"]), *exchange.trees["kwargs"].items()]
        lengths: dict[int, int] = {}
        equal = (lengths.setdefault(n, len(lengths)) for n in _lengths([value for _k, value in given]))
        yield CASE, (name, "lengths", *equal)
        for key, value in given:
            yield from ((detail, (name, key, *feature)) for detail, feature in _of(value))
        weights = [_magnitude(tensor) for tensor in exchange.trees.get("state", {}).values()]
        yield MAGNITUDE, (name, "weights", max(weights, default=0))


def _lengths(values: list[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield from value.shape[-2:-1]
        elif isinstance(value, (tuple, list)):
            yield from _lengths(list(value))


def _of(value: Any) -> Iterator[Seen]:
    if isinstance(value, torch.Tensor):
        yield FORM, ("shape", value.dtype, value.dim())
        yield from ((CASE, ("one", value.dim(), axis)) for axis, size in enumerate(value.shape) if size == 1)
        layout = sorted(range(value.dim()), key=value.stride, reverse=True)
        yield FORM, ("layout", *layout, 0 in value.stride())
        detail = MAGNITUDE if value.is_floating_point() else CASE
        yield detail, ("content", value.dtype, *_content_of(value))
    elif isinstance(value, DeviceName):
        yield FORM, ("device",)
    elif isinstance(value, Result):
        yield FORM, ("returned", *value.path)
    elif isinstance(value, (tuple, list)):
        yield FORM, (type(value), len(value))
        for index, item in enumerate(value):
            yield from ((detail, (index, *feature)) for detail, feature in _of(item))
    elif isinstance(value, Step):  # what its numbers are for, nobody can tell from outside
        yield FORM, ("step", *value.table.shape, float(value.table.nan_to_num().sum()))
    else:
        yield CASE, ("value", min(value.bit_length(), 2) if type(value) is int else repr(value))


def _content_of(tensor: torch.Tensor) -> Feature:
    if not tensor.numel():
        return ()
    if tensor.dtype == torch.bool:
        rows = tensor.any(-1) if tensor.dim() else tensor
        return (bool(tensor.all()), bool(rows.all()), bool(rows.any()))
    if not tensor.is_floating_point():
        return (int(tensor.min()) < 0, bool((tensor == 0).any()))
    return (_magnitude(tensor), *(size % 2 for size in tensor.shape[-1:]))


def _magnitude(tensor: torch.Tensor) -> int:
    """Return 0 for numbers around 1, more for huge ones, less for tiny ones."""
    largest = float(tensor.abs().max()) if tensor.numel() else 1.0
    if not math.isfinite(largest):
        return 999
    return math.floor((math.log10(largest) + 1.3) / 2.3) if largest else -999
