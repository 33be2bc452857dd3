"""lora against plain Python, against one matrix, and its gradients against the chain rule written out."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def adapted(*, bias: bool = True, r: int = 3, alpha: float = 7) -> nn.Module:
    """Return an adapted layer from 5 to 4 features whose B is not 0."""
    torch.manual_seed(7)
    layer: nn.Module = reference("lora").LoRALinear(nn.Linear(5, 4, bias=bias, **F64), r, alpha)
    nn.init.normal_(layer.get_parameter("B"))
    return layer


def numbers(layer: nn.Module, name: str) -> Tensor:
    """Return a parameter without its graph."""
    return layer.get_parameter(name).detach().clone()


@pytest.mark.parametrize("bias", [True, False])
def test_number_by_number(bias: bool) -> None:
    """Plain Python for one token: dot products with rows of W, A and B."""
    layer = adapted(bias=bias)
    x = torch.randn(5, **F64)

    def through(matrix: Tensor, vector: list[float]) -> list[float]:
        return [math.fsum(w * v for w, v in zip(row, vector, strict=True)) for row in matrix.tolist()]

    base = through(numbers(layer, "base.weight"), x.tolist())
    side = through(numbers(layer, "B"), through(numbers(layer, "A"), x.tolist()))
    added = numbers(layer, "base.bias").tolist() if bias else [0.0] * 4
    agree(layer(x), torch.tensor([w + b + 7 / 3 * s for w, b, s in zip(base, added, side, strict=True)], **F64))


def test_one_matrix() -> None:
    """`torch.addmm` makes the merged weight: it is in the layer after merge(), and gone after unmerge()."""
    layer = adapted()
    before, x = numbers(layer, "base.weight"), torch.randn(2, 3, 5, **F64)
    whole = torch.addmm(before, numbers(layer, "B"), numbers(layer, "A"), alpha=7 / 3)
    want = nn.functional.linear(x, whole, numbers(layer, "base.bias"))
    agree(layer(x), want)
    for word, weight in (("merge", whole), ("merge", whole), ("unmerge", before), ("unmerge", before)):
        getattr(layer, word)()
        agree(numbers(layer, "base.weight"), weight)
        agree(layer(x), want)


def test_gradients() -> None:
    """With G for the result: s Bᵀ G x for A, s G (A x)ᵀ for B, Gᵀ (W + s B A) for x; the base has none."""
    layer = adapted()
    x, cotangent = torch.randn(6, 5, **F64).requires_grad_(), torch.randn(6, 4, **F64)
    layer(x).backward(cotangent)
    a, b, plain = numbers(layer, "A"), numbers(layer, "B"), x.detach()
    assert x.grad is not None
    agree(x.grad, cotangent @ (numbers(layer, "base.weight") + 7 / 3 * b @ a))
    for name, want in (("A", b.T @ cotangent.T @ plain), ("B", cotangent.T @ plain @ a.T)):
        grad = layer.get_parameter(name).grad
        assert grad is not None
        agree(grad, 7 / 3 * want)
    assert layer.get_parameter("base.weight").grad is layer.get_parameter("base.bias").grad is None


def test_training_moves_the_result_within_the_rank() -> None:
    """After any training the weight has moved by a matrix of rank r at most."""
    layer = adapted(r=2)
    before = numbers(layer, "base.weight")
    optimizer = torch.optim.SGD((p for p in layer.parameters() if p.requires_grad), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        layer(torch.randn(8, 5, **F64)).square().mean().backward()
        optimizer.step()
    getattr(layer, "merge")()  # noqa: B009 - nn.Module has none
    assert torch.linalg.matrix_rank(numbers(layer, "base.weight") - before) == 2
