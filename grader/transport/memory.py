"""How the tensors of a message lie in memory where they arrive: the same numbers, as different callers would hold them.

Whatever the layout, pairs of numbers can be looked at as complex ones where the last axis is whole: offsets are even.
"""

from __future__ import annotations

import math
from typing import Final

import torch

OWN: Final = "own"
"""Each tensor is alone in its memory and begins with it."""
BEHIND: Final = "behind"
"""Other numbers lie before it: a slice of a longer tensor."""
WIDER: Final = "wider"
"""Each row is a slice of a longer one, as half of a joint projection is."""
LONGER: Final = "longer"
"""Each matrix is a slice of a longer one: the new tokens of a sequence."""
TRANSPOSED: Final = "transposed"
"""The axes but the last lie in memory the other way round: length first, batch second."""
REVERSED: Final = "reversed"
"""All axes do."""
PACKED: Final = "packed"
"""All tensors of a dtype are views of one memory."""

IN_FRONT: Final = 8
BESIDE: Final = 2


class Memory:
    """Makes the tensors of one message, with copies of the numbers of its heaps."""

    def __init__(self, heaps: dict[str, torch.Tensor], layout: str = OWN) -> None:
        """Read from these heaps; what a message itself says of a tensor's layout goes before ``layout``."""
        self._heaps, self._layout = heaps, layout
        self._packed: dict[str, torch.Tensor] = {}

    def tensor(self, heap: str, start: int, sizes: list[int], *, as_sent: bool) -> torch.Tensor:
        """Return a tensor of these sizes; ``as_sent`` where the message says how its axes lie in memory."""
        length = math.prod(sizes)
        if self._layout == PACKED:
            if heap not in self._packed:
                self._packed[heap] = self._heaps[heap].clone()
            return self._packed[heap].narrow(0, start, length).view(sizes)
        flat = self._heaps[heap].narrow(0, start, length)
        if self._layout == OWN:
            return flat.clone().view(sizes)
        if not as_sent and length and sizes:
            if self._layout == WIDER:
                return _copied(flat.view(sizes), [*sizes[:-1], sizes[-1] + BESIDE], -1)
            if self._layout == LONGER:
                longer = sizes.copy()
                longer[max(-2, -len(sizes))] += BESIDE
                return _copied(flat.view(sizes), longer, max(-2, -len(sizes)))
            if self._layout in (TRANSPOSED, REVERSED):
                kept = len(sizes) - (self._layout == TRANSPOSED)
                order = [*reversed(range(kept)), *range(kept, len(sizes))]
                memory = flat.new_empty([sizes[axis] for axis in order]).permute(order)
                return memory.copy_(flat.view(sizes))
        return _copied(flat, [IN_FRONT + length], -1).view(sizes)


def _copied(numbers: torch.Tensor, sizes: list[int], axis: int) -> torch.Tensor:
    """Copy numbers into a larger memory, to the end of an axis that is longer there."""
    place = numbers.new_ones(sizes).narrow(axis, sizes[axis] - numbers.size(axis), numbers.size(axis))
    return place.copy_(numbers)
