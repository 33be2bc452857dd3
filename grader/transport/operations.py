"""What the judge asks for: operations that are ready to be sent, one by one or several in one frame.

Several operations in one frame are answered together: their results lie in the same heaps, and each reply says where.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any, Final

import torch

from grader.transport.wire import frame, framed, load, save

SEVERAL: Final = "several"
"""The name of the operation, and the kind of its reply."""
PRELOAD: Final = "preload"
"""The operation that hands over several ones which will be asked for later, and the kind of its reply."""

MOST_KEPT: Final = 50
"""So many frames are kept as they are packed: those that many answers are asked."""

Tensors = dict[str, torch.Tensor]
Payload = Callable[[], Tensors]
"""Returns the heaps of a reply by name. Raises WireError where they cannot be read."""


class Message:
    """An operation and what it needs: only the nonce is missing."""

    __slots__ = ("header", "tensors")

    def __init__(self, header: dict[str, Any], tensors: Tensors | None = None) -> None:
        """Make one of the heaps of a packer."""
        self.header = json.dumps(header).encode()
        self.tensors = tensors or {}

    def frame(self, nonce: str) -> bytes:
        """Return the frame with a nonce."""
        return framed(self.header[:-1] + f', "nonce": "{nonce}"}}'.encode(), save(self.tensors))


Several = tuple[Message, ...]
"""Operations that are sent in one frame, to be done in this order."""


@lru_cache(MOST_KEPT)
def _packed(several: Several) -> tuple[bytes, bytes]:
    """Return the items, and the payload: their heaps put together, those of a dtype end to end."""
    heaps: dict[str, list[torch.Tensor]] = {}
    lengths: dict[str, int] = {}
    items: list[bytes] = []
    for message in several:
        places = {name: [lengths.get(name, 0), heap.numel()] for name, heap in message.tensors.items()}
        for name, heap in message.tensors.items():
            heaps.setdefault(name, []).append(heap)
            lengths[name] = lengths.get(name, 0) + heap.numel()
        items.append(message.header[:-1] + f', "heaps": {json.dumps(places)}}}'.encode())
    return b", ".join(items), save({name: torch.cat(parts) for name, parts in heaps.items()})


def frame_of(several: Several, nonce: str) -> bytes:
    """Return the frame with a nonce; that of an operation is followed by a dot and its number."""
    return _frame(several, f'"op": "{SEVERAL}", "nonce": "{nonce}"')


def frame_to_preload(several: Several, nonce: str, first: int) -> bytes:
    """Return the frame that only hands them over, to be asked for by numbers that begin with this one."""
    return _frame(several, f'"op": "{PRELOAD}", "nonce": "{nonce}", "first": {first}')


def _frame(several: Several, fields: str) -> bytes:
    items, payload = _packed(several)
    return framed(f'{{{fields}, "items": ['.encode() + items + b"]}", payload)


def frame_of_preloaded(numbers: list[int], nonce: str) -> bytes:
    """Return the frame that asks for what was handed over under these numbers."""
    return frame({"op": SEVERAL, "nonce": nonce, "preloaded": numbers})


def same_operation(one: tuple[dict[str, Any], Tensors], other: tuple[dict[str, Any], Tensors]) -> bool:
    """Whether two operations, each with its heaps, ask for the same with the same bytes."""
    (header, tensors), (other_header, others) = one, other
    return (
        header == other_header
        and tensors.keys() == others.keys()
        and all(torch.equal(heap.view(torch.uint8), others[name].view(torch.uint8)) for name, heap in tensors.items())
    )


def read_once(data: bytes) -> Payload:
    """Return what reads the tensors of a reply, once, when somebody wants to see them."""
    return cache(partial(load, data))
