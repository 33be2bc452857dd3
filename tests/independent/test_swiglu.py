"""swiglu against `F.glu` on one stacked matrix, against plain Python, and with the slope of SiLU written out."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (2, 3, 4, 5)])
def test_one_stacked_matrix(shape: tuple[int, ...]) -> None:
    """`F.glu` cuts a row in halves and multiplies the first with the sigmoid of the second: SiLU is that of h and h."""
    torch.manual_seed(7)
    own = reference("swiglu").SwiGLU(5, 8).double()
    x = torch.randn(*shape, **F64)
    both = x @ torch.cat([own.w1.weight, own.w3.weight]).T
    gate, value = both.chunk(2, dim=-1)
    agree(own(x), F.glu(torch.cat([gate, gate], dim=-1)) * value @ own.w2.weight.T)


def test_number_by_number() -> None:
    """Plain Python for each token, with gates from -700 to 700."""
    torch.manual_seed(7)
    own = reference("swiglu").SwiGLU(4, 6).double()
    x = torch.randn(3, 4, **F64) * torch.tensor([[0.1], [1.0], [300.0]], **F64)
    got = own(x)

    def layer(vector: list[float], weight: list[list[float]]) -> list[float]:
        return [math.fsum(w * v for w, v in zip(row, vector, strict=True)) for row in weight]

    def silu(h: float) -> float:
        return h / (1 + math.exp(-h)) if h > 0 else h * math.exp(h) / (1 + math.exp(h))

    for token, row in zip(x.tolist(), got, strict=True):
        gates, values = (layer(token, one.weight.tolist()) for one in (own.w1, own.w3))
        hidden = [silu(gate) * value for gate, value in zip(gates, values, strict=True)]
        torch.testing.assert_close(row, torch.tensor(layer(hidden, own.w2.weight.tolist()), **F64))


def test_gradients() -> None:
    """The chain rule written out, with the slope of SiLU: s + h s (1 - s)."""
    torch.manual_seed(7)
    own = reference("swiglu").SwiGLU(5, 8).double()
    x, cotangent = torch.randn(7, 5, **F64).requires_grad_(), torch.randn(7, 5, **F64)
    got = torch.autograd.grad(own(x), (x, own.w1.weight, own.w2.weight, own.w3.weight), cotangent)
    with torch.no_grad():
        gate, value = x @ own.w1.weight.T, x @ own.w3.weight.T
        sigma = 1 / (1 + torch.exp(-gate))
        d_hidden = cotangent @ own.w2.weight
        d_gate, d_value = d_hidden * value * (sigma + gate * sigma * (1 - sigma)), d_hidden * gate * sigma
        agree(got[0], d_gate @ own.w1.weight + d_value @ own.w3.weight)
        agree(got[1], d_gate.T @ x)
        agree(got[2], cotangent.T @ (gate * sigma * value))
        agree(got[3], d_value.T @ x)
