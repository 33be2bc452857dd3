"""Operations that are handed over and unpacked ahead of the time at which they are asked for.

A sandbox keeps those that it is given itself, and inherits those that its keeper had when it was forked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch

from grader.sandbox.executor import Given, unpacked
from grader.transport.wire import load, parse_frame

Item = tuple[dict[str, Any], dict[str, torch.Tensor], Given | None]
"""An operation, its tensors and, where they are unpacked already, its arguments."""

INHERITED: Final[dict[int, Item]] = {}
"""What processes that are forked from this one find there, by the numbers under which it is asked for."""

_load, _narrow = load, torch.Tensor.narrow  # before an answer could patch them


def items_of(header: dict[str, Any], payload: bytes) -> list[Item]:
    """Return the operations of a frame, with their tensors."""
    heaps = _load(payload)
    return [
        (item, {name: _narrow(heaps[name], 0, *place) for name, place in item["heaps"].items()}, None)
        for item in header["items"]
    ]


def numbered(header: dict[str, Any], payload: bytes) -> Iterator[tuple[int, Item]]:
    """Yield the operations of a frame by number, with their arguments unless these wait for an earlier result."""
    for number, (item, tensors, _) in enumerate(items_of(header, payload), header["first"]):
        yield number, (item, tensors, unpacked(item, tensors))


def take_in(frame: bytes) -> None:
    """Keep the operations of a frame for the processes that are forked from this one."""
    INHERITED.update(numbered(*parse_frame(frame)))
