"""adamw against `torch.optim.AdamW`."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.references import agree, reference

F64 = {"dtype": torch.float64}
SETTINGS = [
    {},
    {"lr": 0.1},
    {"lr": 0.05, "betas": (0.5, 0.7), "eps": 0.3, "weight_decay": 0.4},
    {"lr": 0.1, "betas": (0.0, 0.0), "weight_decay": 0.0},
]


def twins() -> tuple[list[Tensor], list[Tensor]]:
    """Return the same parameters twice."""
    torch.manual_seed(7)
    first = [torch.randn(shape, **F64).requires_grad_() for shape in ((), (3,), (2, 4))]
    return first, [parameter.detach().clone().requires_grad_() for parameter in first]


def give(own: list[Tensor], their: list[Tensor], *, without: int | None = None) -> None:
    """Give both the same gradients; the parameter of the number ``without`` has none."""
    for number, (one, two) in enumerate(zip(own, their, strict=True)):
        gradient = None if number == without else torch.randn_like(one)
        one.grad, two.grad = gradient, None if gradient is None else gradient.clone()


@pytest.mark.parametrize("settings", SETTINGS)
def test_steps(settings: dict[str, Any]) -> None:
    """Parameters after each of many steps, in some of which one has no gradient."""
    own, their = twins()
    mine, torchs = reference("adamw").AdamW(iter(own), **settings), torch.optim.AdamW(their, **settings)
    for step in range(12):
        give(own, their, without=1 if step in (0, 1, 5) else None)
        mine.step()
        torchs.step()
        for one, two in zip(own, their, strict=True):
            agree(one, two)


@pytest.mark.parametrize("settings", SETTINGS)
def test_resuming(settings: dict[str, Any]) -> None:
    """A new optimiser that loads a checkpoint goes on as PyTorch's does, with the settings of the checkpoint."""
    own, their = twins()
    mine, torchs = reference("adamw").AdamW(own, **settings), torch.optim.AdamW(their, **settings)
    for _ in range(3):
        give(own, their)
        mine.step()
        torchs.step()
    resumed, theirs = reference("adamw").AdamW(own), torch.optim.AdamW(their)
    resumed.load_state_dict(copy.deepcopy(mine.state_dict()))
    theirs.load_state_dict(copy.deepcopy(torchs.state_dict()))
    for _ in range(3):
        give(own, their)
        resumed.step()
        theirs.step()
    for one, two in zip(own, their, strict=True):
        agree(one, two)


def test_clearing() -> None:
    """After zero_grad a step does nothing, and the step after that goes on."""
    own, their = twins()
    mine, torchs = reference("adamw").AdamW(own, lr=0.1), torch.optim.AdamW(their, lr=0.1)
    for optimiser in (mine, torchs):
        torch.manual_seed(3)
        for _ in range(2):
            give(own if optimiser is mine else their, own if optimiser is mine else their)
            optimiser.step()
            optimiser.zero_grad()
            optimiser.step()
    for one, two in zip(own, their, strict=True):
        agree(one, two)


@pytest.mark.parametrize(
    "settings", [{"lr": -1.0}, {"eps": -1.0}, {"weight_decay": -1.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -0.1)}]
)
def test_refusals(settings: dict[str, Any]) -> None:
    """What PyTorch refuses is refused."""
    for optimiser in (reference("adamw").AdamW, torch.optim.AdamW):
        with pytest.raises(ValueError, match=r"."):
            optimiser([torch.ones(2, requires_grad=True)], **settings)
        with pytest.raises(ValueError, match=r"."):
            optimiser([])
