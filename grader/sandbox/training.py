"""Trains an implementation: the loop is the grader's own, the loss is a method of the answer's module.

The data, their order, the rates and the first parameters come from the judge, so nothing is left to chance. What the
sandbox says of its own loss is shown while it trains and believed by nobody: the judge puts the trained parameters into
the reference and measures there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import torch

from grader.sandbox.values import describe, is_tensor

BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8
TELLS: Final = 50
"""How often the loss is told."""

Tell = Callable[[int, int, float], None]
_grad, _no_grad = torch.autograd.grad, torch.no_grad  # what an answer could patch, taken before it is loaded


class NoLossError(Exception):
    """The method returned something that is no loss; the message is for the learner."""


def train(
    parameters: list[torch.nn.Parameter],
    loss_of: Callable[..., Any],
    data: tuple[torch.Tensor, ...],
    order: torch.Tensor,
    rates: torch.Tensor,
    tell: Tell,
) -> None:
    """Minimise ``loss_of(*batch)`` with Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1), in place.

    ``order`` (steps, B) are the rows of the data in each batch, ``rates`` (steps,) the rate of each step. ``tell`` gets
    the number of steps that are done, of all, and the loss before the last of them.
    """
    parameters = [parameter for parameter in parameters if parameter.requires_grad]
    adam = _Adam(parameters)
    steps = len(order)
    every = max(1, steps // TELLS)
    for step, (rows, rate) in enumerate(zip(order, rates.tolist(), strict=True), 1):
        loss = loss_of(*(part[rows] for part in data))
        if not is_tensor(loss) or loss.dim() or not loss.requires_grad:
            raise NoLossError(_what(loss))
        adam.step(list(_grad(loss, parameters, allow_unused=True)), rate)
        known = loss.item()
        if step % every == 0 or step == steps:
            tell(step, steps, known)
        if not math.isfinite(known):
            return  # nothing comes after it


def _what(loss: Any) -> str:
    if not is_tensor(loss):
        return describe(loss)
    return f"a tensor of shape {tuple(loss.shape)}" if loss.dim() else "a tensor without a gradient"


class _Adam:
    """The moments of the gradients. torch.optim would do, but imports torch's compiler first, which takes seconds."""

    def __init__(self, parameters: list[torch.nn.Parameter]) -> None:
        self._parameters: list[torch.Tensor] = list(parameters)
        self._first = [torch.zeros_like(parameter) for parameter in parameters]
        self._second = [torch.zeros_like(parameter) for parameter in parameters]
        self._steps = 0

    def step(self, grads: list[torch.Tensor | None], rate: float) -> None:
        """Move the parameters; one without a gradient has a gradient of 0."""
        given = [torch.zeros_like(p) if g is None else g for p, g in zip(self._parameters, grads, strict=True)]
        self._steps += 1
        beta, gamma = BETAS
        with _no_grad():
            torch._foreach_mul_(self._first, beta)
            torch._foreach_add_(self._first, given, alpha=1 - beta)
            torch._foreach_mul_(self._second, gamma)
            torch._foreach_addcmul_(self._second, given, given, value=1 - gamma)
            roots = torch._foreach_sqrt(self._second)  # noqa: SLF001 - public in all but its name
            torch._foreach_div_(roots, (1 - gamma**self._steps) ** 0.5)
            torch._foreach_add_(roots, EPSILON)
            torch._foreach_addcdiv_(self._parameters, self._first, roots, value=-rate / (1 - beta**self._steps))
