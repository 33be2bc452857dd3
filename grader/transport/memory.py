"""How the tensors of a message lie in memory where they arrive: the same numbers, as different callers would hold them.

Whatever the layout, pairs of numbers can be looked at as complex ones where the last axis is whole: offsets are even.
"""

from __future__ import annotations

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


def held(flat: torch.Tensor, sizes: list[int], layout: str, *, as_sent: bool) -> torch.Tensor:
    """Return a tensor of these sizes with its numbers laid out so: a copy, but a view of them in what is ``PACKED``.

    ``as_sent`` where the message itself says how its axes lie in memory, which goes before ``layout``.
    """
    if layout == PACKED:
        return flat.view(sizes)
    if layout == OWN:
        return flat.clone().view(sizes)
    if not as_sent and flat.numel() and sizes:
        if layout == WIDER:
            return _copied(flat.view(sizes), [*sizes[:-1], sizes[-1] + BESIDE], -1)
        if layout == LONGER:
            longer = sizes.copy()
            longer[max(-2, -len(sizes))] += BESIDE
            return _copied(flat.view(sizes), longer, max(-2, -len(sizes)))
        if layout in (TRANSPOSED, REVERSED):
            kept = len(sizes) - (layout == TRANSPOSED)
            order = [*reversed(range(kept)), *range(kept, len(sizes))]
            memory = flat.new_empty([sizes[axis] for axis in order]).permute(order)
            return memory.copy_(flat.view(sizes))
    return _copied(flat, [IN_FRONT + flat.numel()], -1).view(sizes)


def _copied(numbers: torch.Tensor, sizes: list[int], axis: int) -> torch.Tensor:
    """Copy numbers into a larger memory, to the end of an axis that is longer there."""
    place = numbers.new_ones(sizes).narrow(axis, sizes[axis] - numbers.size(axis), numbers.size(axis))
    return place.copy_(numbers)
