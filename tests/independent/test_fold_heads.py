"""The reference of fold-heads agrees with loops over every number, and with the attention that it is made for."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


@pytest.mark.parametrize(
    ("batch", "length", "heads", "width"), [(2, 5, 3, 4), (3, 3, 3, 3), (1, 1, 1, 1), (4, 1, 2, 1)]
)
def test_folding(batch: int, length: int, heads: int, width: int) -> None:
    """Number by number, there and back."""
    module = reference("fold-heads")
    x = torch.randn(batch, length, heads * width, dtype=torch.float64)
    folded = module.fold_heads(x, heads)
    assert folded.shape == (batch * heads, length, width)
    for b, s, h, i in itertools.product(*map(range, (batch, length, heads, width))):
        assert folded[b * heads + h, s, i] == x[b, s, h * width + i]
    assert torch.equal(module.unfold_heads(folded, heads), x)


def test_lengths() -> None:
    """Row by row."""
    repeat = reference("fold-heads").repeat_valid_lens
    for lens in (torch.tensor([4, 0, 2]), torch.tensor([[1, 2], [3, 4], [5, 0]])):
        rows = list(repeat(lens, 2))
        assert len(rows) == 6
        assert all(torch.equal(row, lens[index // 2]) for index, row in enumerate(rows))
    assert repeat(None, 2) is None


@pytest.mark.parametrize("lens", [None, torch.tensor([5, 2]), torch.tensor([[1, 2, 3, 4], [5, 4, 3, 2]])])
def test_attention_in_the_folded_batch(lens: torch.Tensor | None) -> None:
    """One head over the folded batch is `F.scaled_dot_product_attention` with heads."""
    torch.manual_seed(7)
    module = reference("fold-heads")
    q, k, v = (torch.randn(2, length, 6, dtype=torch.float64) for length in (4, 5, 5))
    scores = module.fold_heads(q, 3) @ module.fold_heads(k, 3).transpose(1, 2) / 2**0.5
    weights = reference("valid-lens").masked_softmax(scores, module.repeat_valid_lens(lens, 3))
    got = module.unfold_heads(weights @ module.fold_heads(v, 3), 3)
    keep = None
    if lens is not None:
        keep = torch.arange(5).expand(2, 1, 4, 5) < lens.view(2, 1, -1, 1)
    heads = [x.unflatten(2, (3, 2)).transpose(1, 2) for x in (q, k, v)]
    want = F.scaled_dot_product_attention(*heads, attn_mask=keep).transpose(1, 2).flatten(2)
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
