"""ffn against `nn.Sequential` of PyTorch's own layers and against plain Python, number by number."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


@pytest.mark.parametrize("d_out", [None, 3])
def test_by_hand(d_out: int | None) -> None:
    """Plain Python for each token."""
    torch.manual_seed(7)
    own = reference("ffn").PositionWiseFFN(5, 8, d_out).double().eval()
    x = 2 * torch.randn(2, 3, 5, **F64)
    got = own(x)
    assert got.shape == (2, 3, d_out or 5)

    def layer(vector: list[float], dense: nn.Linear) -> list[float]:
        rows = zip(dense.weight.tolist(), dense.bias.tolist(), strict=True)
        return [math.fsum(w * v for w, v in zip(row, vector, strict=True)) + bias for row, bias in rows]

    for b in range(2):
        for s in range(3):
            hidden = [h if h > 0 else 0.0 for h in layer(x[b, s].tolist(), own.dense1)]
            agree(got[b, s], torch.tensor(layer(hidden, own.dense2), **F64))


@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (2, 3, 4, 5)])
def test_gradients(shape: tuple[int, ...]) -> None:
    """`nn.Sequential(Linear, ReLU, Linear)`: values and the gradients of tokens and parameters."""
    torch.manual_seed(7)
    own = reference("ffn").PositionWiseFFN(5, 8, 4).double()
    known = nn.Sequential(nn.Linear(5, 8, **F64), nn.ReLU(), nn.Linear(8, 4, **F64))
    known[0].load_state_dict(own.dense1.state_dict())
    known[2].load_state_dict(own.dense2.state_dict())
    x = torch.randn(*shape, **F64).requires_grad_()
    cotangent = torch.randn(*shape[:-1], 4, **F64)
    got, want = own(x), known(x)
    agree(got, want)
    mine = torch.autograd.grad(got, (x, *own.parameters()), cotangent)
    theirs = torch.autograd.grad(want, (x, *known.parameters()), cotangent)
    for one, two in zip(mine, theirs, strict=True):
        agree(one, two)


@pytest.mark.parametrize("rate", [0.4, 1.0])
def test_dropout(rate: float) -> None:
    """In training the second layer gets what `F.dropout` makes of the hidden layer from the same generator."""
    torch.manual_seed(7)
    own = reference("ffn").PositionWiseFFN(5, 8, dropout=rate).double().train()
    x = torch.randn(2, 3, 5, **F64)
    torch.manual_seed(1)
    got = own(x)
    torch.manual_seed(1)
    hidden = F.dropout((x @ own.dense1.weight.T + own.dense1.bias).clamp(min=0), rate)
    agree(got, hidden @ own.dense2.weight.T + own.dense2.bias)
