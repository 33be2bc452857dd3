"""top-p agrees with the definition: of all sets of tokens, the smallest one whose probabilities add up to p."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from tests.references import reference


def nucleus(row: list[float], p: float) -> set[int]:
    """Try all sets of tokens: the smallest that reach p, of these the most probable one, of these the lowest ids."""
    powers = [math.exp(logit) for logit in row]
    probabilities = [power / math.fsum(powers) for power in powers]
    for size in range(1, len(row) + 1):
        enough = [
            (-math.fsum(probabilities[i] for i in ids), ids)
            for ids in itertools.combinations(range(len(row)), size)
            if math.fsum(probabilities[i] for i in ids) >= p
        ]
        if enough:
            return set(min(enough)[1])
    return set(range(len(row)))


@pytest.mark.parametrize("p", [0.0, 0.05, 0.31, 0.5, 0.77, 0.95, 1.0])
@pytest.mark.parametrize("shape", [(7,), (5, 6), (2, 3, 8)])
def test_top_p_filter(shape: tuple[int, ...], p: float) -> None:
    """Random logits: the nucleus keeps its logits, everything else is -inf."""
    torch.manual_seed(3)
    for scale in (0.3, 1.0, 4.0):
        logits = scale * torch.randn(*shape, dtype=torch.float64)
        got = reference("top-p").top_p_filter(logits, p)
        assert (got.shape, got.dtype) == (logits.shape, torch.float64)
        for row, kept in zip(logits.view(-1, shape[-1]).tolist(), got.view(-1, shape[-1]).tolist(), strict=True):
            inside = nucleus(row, p)
            assert kept == [logit if i in inside else -math.inf for i, logit in enumerate(row)]


def test_equal_logits() -> None:
    """Of equal logits the lower ids come first, also where there are many."""
    logits = torch.tensor([[0.0, 1.0, 1.0, 0.0, 1.0]], dtype=torch.float64)
    assert reference("top-p").top_p_filter(logits, 0.4).isfinite().tolist() == [[False, True, True, False, False]]
    kept = reference("top-p").top_p_filter(torch.zeros(1, 1000, dtype=torch.float64), 0.2505).isfinite()
    assert kept[0].nonzero().flatten().tolist() == list(range(251))
