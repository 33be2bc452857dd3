"""alibi against exact powers of two and plain loops."""

from __future__ import annotations

import itertools

import pytest
import torch

from tests.references import reference


def by_hand(heads: int) -> list[float]:
    """Return the slopes as the paper's code does: repeated multiplication by the first of them."""
    power = next(p for p in (128, 64, 32, 16, 8, 4, 2, 1) if p <= heads)

    def sequence(count: int) -> list[float]:
        first = 0.5 ** (8 / count)
        return list(itertools.accumulate([first] * count, lambda slope, ratio: slope * ratio))

    return sequence(power) + sequence(2 * power)[::2][: heads - power]


@pytest.mark.parametrize("heads", range(1, 41))
def test_slopes(heads: int) -> None:
    """All numbers of heads up to 40, to the last digits of float32."""
    slopes = reference("alibi").alibi_slopes(heads)
    torch.testing.assert_close(slopes, torch.tensor(by_hand(heads)), rtol=2e-6, atol=0)
    assert len(set(slopes.tolist())) == heads


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, None), (4, 4), (2, 7), (1, 9)])
@pytest.mark.parametrize("heads", [1, 4, 6])
def test_bias(heads: int, n: int, m: int | None) -> None:
    """Loops over heads, queries and keys."""
    alibi = reference("alibi")
    slopes, bias = alibi.alibi_slopes(heads), alibi.alibi_bias(heads, n, m)
    keys = m or n
    assert bias.shape == (heads, n, keys)
    assert bias.dtype == torch.float32
    for h, i, j in itertools.product(range(heads), range(n), range(keys)):
        assert bias[h, i, j].item() == -slopes[h].item() * abs(keys - n + i - j)
