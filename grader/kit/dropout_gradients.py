"""Whether gradients in training follow the mask that dropout drew, which is another one for each answer.

What was dropped cannot be told, so there is nothing to compare with. How a result behaves when something grows can:

- where it grows in proportion with `x`, given what was dropped, its derivative times `x` is the result (Euler);
- where it does not change with the size of `x`, as behind a norm, the derivative times `x` is 0.

Neither holds for a gradient that went past the mask, through a mask that was drawn anew, or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module
from grader.judge.cases.rng import Numbers
from grader.judge.exchange.results import Result
from grader.sandbox.executor import cotangent

Sources = dict[str, torch.Tensor]
"""Arguments and parameters of a call, by name, as the case gave them."""

TOLERANCE: Final = 1e-6
"""As a share of all that is added up; in float64 a right gradient is off by 1e-13."""


def grows_with(check: Check, result: Result, sources: Sources) -> None:
    """Look at a result that grows in proportion with these, all else being as it is, what was dropped included."""
    got = _tensor(check, result)
    _add_up(check, result, sources, cotangent(got) * got)


def does_not_grow_with(check: Check, result: Result, sources: Sources) -> None:
    """Look at a result that stays as it is when these grow in proportion; it depends on them all the same."""
    _add_up(check, result, sources, torch.zeros(1, dtype=torch.float64))


def dropped_entry_by_entry(check: Check, result: Result, source: str, rate: float) -> None:
    """Look at a result that has the entries of a source and something added to them, or 0 where they were dropped."""
    got = _tensor(check, result)
    wanted = torch.where(got == 0, 0.0, cotangent(got) / (1 - rate))
    _follows(check, source, torch.allclose(_gradient(result, source, got), wanted, rtol=TOLERANCE, atol=TOLERANCE))


def weights_dropped(
    check: Check, results: Result, sources: Sources, rate: float, of_weights: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Look at attention whose values let each weight, dropped or not, be seen alone in the output.

    ``results``: output and weights. The scores grow in proportion with the ``sources``, as the output does not.
    ``of_weights`` brings an output to the shape of the weights.
    """
    output, weights = (_tensor(check, result) for result in results)
    kept = (of_weights(output) != 0) / (1 - rate)
    behind = of_weights(cotangent(output)) * kept + cotangent(weights)
    of_scores = weights * (behind - (weights * behind).sum(-1, keepdim=True))  # in each row they add up to 0
    _add_up(check, results, sources, of_scores * weights.log())  # so scores may lack the same number in a row


def loud(rng: Numbers, norm: str, width: int) -> Sources:
    """Draw weight and bias of a norm, so large that the eps of the next one is nothing beside them."""
    return {f"{norm}.{name}": rng.normal(width, scale=1e4) for name in ("weight", "bias")}


def without_bias(*layers: tuple[str, int]) -> Sources:
    """Make biases of 0 for layers of these names and widths."""
    return {f"{layer}.bias": torch.zeros(width, dtype=torch.float64) for layer, width in layers}


def behind_a_sink(block: Module, rng: Numbers, attention: str, batch: int, length: int) -> tuple[torch.Tensor, Sources]:
    """Let attention of width 6 and two heads give nearly all weight to a first token, whose value is 0.

    What the others have left shrinks in proportion as that score grows, and outweighs all that it is added to: behind a
    norm it stays as it is. Returns tokens (batch, length, 6) to attend to, and what that score grows with.
    """
    tokens, keys = rng.normal(batch, length, 6), torch.zeros(6, 6, dtype=torch.float64)
    tokens[:, 0], tokens[..., 0] = 0.0, 0.0
    tokens[:, 0, 0], keys[:, 0] = 1.0, 18.0  # 31 is the score of the first, e^-31 a weight of all others
    values, asks = rng.normal(6, 6, scale=1e24), {f"{attention}.W_q.bias": torch.ones(6, dtype=torch.float64)}
    values[:, 0] = 0.0
    weights = {"W_q": 0 * keys, "W_k": keys, "W_v": values}
    block.set(**asks, **{f"{attention}.{name}.weight": weight for name, weight in weights.items()})
    block.set(**without_bias(*((f"{attention}.{name}", 6) for name in ("W_k", "W_v", "W_o"))))
    return tokens, asks


def _add_up(check: Check, result: Result, sources: Sources, wanted: torch.Tensor) -> None:
    """Look whether derivatives by the sources, times these, add up to what is wanted."""
    terms = torch.cat([(_gradient(result, name, value) * value).flatten() for name, value in sources.items()])
    scale = terms.abs().sum() + wanted.abs().sum()
    off = (terms.sum() - wanted.sum()).abs()
    _follows(check, ", ".join(sources), bool(terms.any()) and bool(off <= TOLERANCE * scale))


def _follows(check: Check, sources: str, condition: bool) -> None:
    said = f"in training the gradient of {sources} does not follow what was dropped"
    check.that(condition or not check.variant.grad, said)


def _gradient(result: Result, name: str, like: torch.Tensor) -> torch.Tensor:
    """Return a gradient; zeros where none has reached its source."""
    found = result.gradients.get(name)
    return torch.zeros_like(like) if found is None else found


def _tensor(check: Check, result: Result) -> torch.Tensor:
    got = result.got
    check.that(isinstance(got, torch.Tensor), "a result in training is not a tensor")
    assert isinstance(got, torch.Tensor)
    return got
