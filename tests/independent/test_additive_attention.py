"""The reference of additive-attention agrees in float64 with plain loops over queries, keys and hidden units."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from tests.references import reference

TOLERANCE = 1e-10
QUERY, KEY, HIDDEN, VALUE = 3, 4, 6, 2


def leaves(*shapes: tuple[int, ...]) -> list[Tensor]:
    """Draw float64 numbers that take a gradient."""
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def score(query: Tensor, key: Tensor, from_query: Tensor, from_key: Tensor, scoring: Tensor) -> Tensor:
    """Score one pair, hidden unit by hidden unit."""
    parts = []
    for unit in range(HIDDEN):
        inner = sum(from_query[unit, f] * query[f] for f in range(QUERY))
        inner = inner + sum(from_key[unit, f] * key[f] for f in range(KEY))
        grown = torch.exp(2 * inner)
        parts.append(scoring[0, unit] * (grown - 1) / (grown + 1))
    return sum(parts)


def by_hand(inputs: list[Tensor], weights: list[Tensor], visible: Tensor) -> tuple[Tensor, Tensor]:
    """Return output and weights, number by number; the rows of the blind are left at 0."""
    queries, keys, values = inputs
    (batch, n, _), m = queries.shape, keys.size(1)
    rows, outputs = [], []
    for b, i in itertools.product(range(batch), range(n)):
        seen = [j for j in range(m) if visible[b, i, j]]
        grown = {j: score(queries[b, i], keys[b, j], *weights).exp() for j in seen}
        total = sum(grown.values()) if seen else 1.0
        row = [grown[j] / total if j in grown else values.new_zeros(()) for j in range(m)]
        rows.append(torch.stack(row))
        outputs.append(sum(row[j] * values[b, j] for j in range(m)))
    return torch.stack(outputs).view(batch, n, VALUE), torch.stack(rows).view(batch, n, m)


MASKS = {
    "none": None,
    "for all": torch.tensor([[True, False, True, True], [False, False, True, False], [False] * 4]),
    "padding": torch.tensor([[[True, True, False, False]], [[False] * 4]]),
    "per batch": torch.tensor([0b1011, 0b0000, 0b1111, 0b0001, 0b1000, 0b0110])[:, None]
    .bitwise_and(2 ** torch.arange(4))
    .ne(0)
    .view(2, 3, 4),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_additive_attention(mask: Tensor | None) -> None:
    """Output, weights, gradients of inputs and parameters."""
    torch.manual_seed(7)
    own = reference("additive-attention").AdditiveAttention(QUERY, KEY, HIDDEN).double()
    inputs = leaves((2, 3, QUERY), (2, 4, KEY), (2, 4, VALUE))
    parameters = [own.W_q.weight, own.W_k.weight, own.w_v.weight]
    assert math.isclose(sum(p.numel() for p in own.parameters()), sum(p.numel() for p in parameters))
    visible = torch.ones(2, 3, 4, dtype=torch.bool) if mask is None else mask.expand(2, 3, 4)
    got, want = own(*inputs, mask), by_hand(inputs, parameters, visible)
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
        cotangent = torch.randn_like(mine)
        sources = [*inputs, *parameters]
        for one, other in zip(
            torch.autograd.grad(mine, sources, cotangent, retain_graph=True, allow_unused=True),
            torch.autograd.grad(theirs, sources, cotangent, retain_graph=True, allow_unused=True),
            strict=True,
        ):
            if one is not None or other is not None:
                torch.testing.assert_close(one, other, rtol=TOLERANCE, atol=TOLERANCE)
