"""moe against plain Python: numbers, lists and a loop over tokens; its gradients against finite differences."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import agree, reference

F64 = {"dtype": torch.float64}
Vector = list[float]


def layer(vector: Vector, dense: nn.Linear) -> Vector:
    """Multiply a list by the weights of a layer, number by number."""
    bias = [0.0] * dense.out_features if dense.bias is None else dense.bias.tolist()
    rows = zip(dense.weight.tolist(), bias, strict=True)
    return [math.fsum(w * v for w, v in zip(row, vector, strict=True)) + b for row, b in rows]


def by_hand(own: nn.Module, tokens: list[Vector], k: int) -> tuple[list[Vector], float]:
    """Route each token by itself; count the choices; the loss of Switch Transformer from these counts."""
    n_experts = len(own.experts)
    counts, mass, outputs = [0] * n_experts, [0.0] * n_experts, []
    for token in tokens:
        scores = layer(token, own.router)
        powers = [math.exp(score - max(scores)) for score in scores]
        chosen = sorted(range(n_experts), key=lambda e: (-scores[e], e))[:k]
        total = math.fsum(powers[e] for e in chosen)
        output = [0.0] * len(token)
        for e in chosen:
            counts[e] += 1
            hidden = [max(0.0, unit) for unit in layer(token, own.experts[e].dense1)]
            result = layer(hidden, own.experts[e].dense2)
            output = [o + powers[e] / total * r for o, r in zip(output, result, strict=True)]
        mass = [m + power / math.fsum(powers) for m, power in zip(mass, powers, strict=True)]
        outputs.append(output)
    shares = [count / sum(counts) for count in counts]
    return outputs, n_experts * math.fsum(f * m / len(tokens) for f, m in zip(shares, mass, strict=True))


def made(n_experts: int, k: int) -> nn.Module:
    """A layer of width 5 in float64."""
    torch.manual_seed(7)
    return reference("moe").MixtureOfExperts(5, 7, n_experts, k).double()


@pytest.mark.parametrize("shape", [(5,), (6, 5), (2, 3, 5), (2, 2, 3, 5)])
@pytest.mark.parametrize(("n_experts", "k"), [(1, 1), (4, 1), (4, 2), (6, 3), (3, 3)])
def test_moe(n_experts: int, k: int, shape: tuple[int, ...]) -> None:
    """Output and balance loss of random tokens."""
    own, x = made(n_experts, k), torch.randn(shape, **F64)
    output, loss = own(x)
    want, balance = by_hand(own, x.reshape(-1, 5).tolist(), k)
    agree(output, torch.tensor(want, **F64).view(shape))
    agree(loss, torch.tensor(balance, **F64))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_equal_scores(k: int) -> None:
    """Whole numbers, with experts that share a score: the lower index comes first."""
    own = made(5, k)
    with torch.no_grad():
        own.router.weight.copy_(torch.tensor([[1.0, 2, 0, 0, 0], [2, 1, 0, 0, 0], [1, 2, 0, 0, 0]] + [[0] * 5] * 2))
    x = torch.randint(-2, 3, (9, 5)).double()
    want, balance = by_hand(own, x.tolist(), k)
    agree(own(x)[0], torch.tensor(want, **F64))
    agree(own(x)[1], torch.tensor(balance, **F64))


def test_the_loss_of_switch_transformer() -> None:
    """1 where all experts are used alike and probable alike, n_experts where one has everything."""
    own = made(4, 1)
    with torch.no_grad():
        own.router.weight.copy_(1e4 * torch.eye(4, 5))
    even, all_to_one = torch.eye(4, 5, **F64), torch.eye(4, 5, **F64)[[2, 2, 2]]
    agree(own(even)[1], torch.tensor(1.0, **F64))
    agree(own(all_to_one)[1], torch.tensor(4.0, **F64))


@pytest.mark.parametrize("k", [1, 2])
def test_gradients(k: int) -> None:
    """Finite differences, for tokens and all parameters: counts have no gradient, choices are no step here."""
    own, x = made(3, k), torch.randn(4, 5, **F64, requires_grad=True)
    names = [name for name, _ in own.named_parameters()]

    def called(tokens: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        return torch.func.functional_call(own, dict(zip(names, weights, strict=True)), (tokens,))

    assert torch.autograd.gradcheck(called, (x, *own.parameters()), eps=1e-7, atol=1e-5)
