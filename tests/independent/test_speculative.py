"""speculative keeps its promise: over all uniforms, what comes out is distributed as the target has it, exactly."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
import torch

from tests.references import reference

STEPS = 12
"""Uniforms are the middles of so many equal pieces of the line from 0 to 1."""
Row = list[Fraction]


def chances(row: Row, other: Row | None = None) -> Row:
    """What is left of a row when another one is taken off, as probabilities."""
    rest = row if other is None else [max(Fraction(0), p - q) for p, q in zip(row, other, strict=True)]
    return [weight / sum(rest) for weight in rest]


def id_drawn(row: Row, u: Fraction) -> int:
    """Walk along the line until the uniform has been passed."""
    total = Fraction(0)
    for token, chance in enumerate(row):
        total += chance
        if u < total:
            return token
    raise AssertionError("a uniform of 1 or more")


def by_the_paper(tokens: list[int], draft: list[Row], target: list[Row], uniforms: list[Fraction]) -> list[int]:
    """Algorithm 1 in fractions, place by place."""
    for place, (token, q, p, u) in enumerate(zip(tokens, draft, target, uniforms, strict=False)):
        if u >= p[token] / q[token]:
            return [*tokens[:place], id_drawn(chances(p, q), uniforms[-1])]
    return [*tokens, id_drawn(chances(target[-1]), uniforms[-1])]


def shares(*counts: int) -> Row:
    """A distribution from whole numbers."""
    return [Fraction(count, sum(counts)) for count in counts]


def accept(tokens: list[int], draft: list[Row], target: list[Row], uniforms: list[Fraction]) -> list[int]:
    """The reference, with tensors made of fractions."""
    tables = (
        torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64).view(len(rows), len(target[0]))
        for rows in (draft, target)
    )
    u = torch.tensor([float(x) for x in uniforms], dtype=torch.float64)
    got = reference("speculative").accept(torch.tensor(tokens, dtype=torch.int64), *tables, u)
    assert got.dtype == torch.int64
    return got.tolist()


MIDDLES = [Fraction(2 * i + 1, 2 * STEPS) for i in range(STEPS)]


@pytest.mark.parametrize("q", [(3, 5, 4), (10, 1, 1), (4, 4, 4)], ids=str)
def test_one_token_is_distributed_as_the_target(q: tuple[int, ...]) -> None:
    """Over every draft in its share and every pair of uniforms, the first token comes as often as the target says."""
    p = (6, 2, 4)
    draft, target = [shares(*q)], [shares(*p), shares(1, 1, 1)]
    found = [Fraction(0)] * 3
    for token, (u, v) in itertools.product(range(3), itertools.product(MIDDLES, repeat=2)):
        first = accept([token], draft, target, [u, v])[0]
        found[first] += draft[0][token] / STEPS**2
    for got, want in zip(found, shares(*p), strict=True):
        assert abs(got - want) <= Fraction(2, STEPS)


def test_every_decision() -> None:
    """Three places, four tokens, random uniforms: the algorithm of the paper in exact fractions."""
    generator = torch.Generator().manual_seed(5)
    for drafts in (0, 1, 3):
        for _ in range(200):
            table = (torch.randint(0, 9, (2 * drafts + 1, 4), generator=generator) + 1).tolist()
            draft, target = [shares(*row) for row in table[:drafts]], [shares(*row) for row in table[drafts:]]
            tokens = torch.randint(0, 4, (drafts,), generator=generator).tolist()
            # 1/1024 more than a multiple of 1/512: no ratio and no sum here has such a denominator
            steps = torch.randint(0, 512, (drafts + 1,), generator=generator).tolist()
            uniforms = [Fraction(2 * step + 1, 1024) for step in steps]
            assert accept(tokens, draft, target, uniforms) == by_the_paper(tokens, draft, target, uniforms)


def test_zeros() -> None:
    """A uniform of exactly 0 neither accepts a token without probability nor draws one."""
    draft, target = [shares(1, 1, 0)], [shares(0, 1, 3), shares(0, 1, 1)]
    nought = Fraction(0)
    assert accept([0], draft, target, [nought, nought]) == [2]
    assert accept([1], draft, target, [nought, nought]) == [1, 1]
