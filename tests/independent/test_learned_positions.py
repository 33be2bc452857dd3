"""learned-positions against plain loops, and against `nn.Embedding`."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn

from tests.references import agree, reference


@pytest.mark.parametrize("length", [1, 4, 6])
def test_learned_positions(length: int) -> None:
    """`nn.Embedding`: values, the gradient of the tokens, and of the table with zeros in the rows that are not used."""
    torch.manual_seed(7)
    own = reference("learned-positions").LearnedPositionalEncoding(6, 5).double()
    known = nn.Embedding.from_pretrained(own.pe.detach().clone(), freeze=False)
    x = torch.randn(3, length, 5, dtype=torch.float64, requires_grad=True)
    got, want = own(x), x + known(torch.arange(length).expand(3, length))
    agree(got, want)
    for b, s, f in itertools.product(range(3), range(length), range(5)):
        assert got[b, s, f].item() == x[b, s, f].item() + own.pe[s, f].item()
    upstream = torch.randn_like(got)
    mine, theirs = (
        torch.autograd.grad(got, (x, own.pe), upstream),
        torch.autograd.grad(want, (x, known.weight), upstream),
    )
    for one, other in zip(mine, theirs, strict=True):
        agree(one, other)
    assert not mine[1][length:].any()


def test_too_long_and_dropout() -> None:
    """One token too many raises; what dropout keeps is twice as large at a rate of one half."""
    torch.manual_seed(7)
    own = reference("learned-positions").LearnedPositionalEncoding(6, 5, 0.5).double()
    x = torch.randn(3, 6, 5, dtype=torch.float64)
    full, dropped = own.eval()(x), own.train()(x)
    kept = dropped != 0
    assert 0.2 < kept.double().mean() < 0.8
    agree(dropped[kept], 2 * full[kept])
    with pytest.raises(ValueError, match="7 tokens"):
        own(torch.randn(3, 7, 5))
