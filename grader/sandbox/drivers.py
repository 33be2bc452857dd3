"""Scenes that a function or class is put into where what it takes does not travel: parameters, a model, an optimiser.

A driver makes these of tensors, in answer and reference alike, and returns tensors, which are compared like any result.
It gets the answer's entry first. This file is written into the script for a debugger as it stands.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch


def training(scene: Callable[..., Any]) -> Callable[..., Any]:
    """Let gradients be recorded in a scene, whatever mode its caller is in: it trains."""

    @functools.wraps(scene)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        with torch.inference_mode(mode=False), torch.enable_grad():
            return scene(*args, **kwargs)

    return recorded


@training
def optimise(optimiser: Any, parameters: Any, gradients: Any, *settings: Any, **named: Any) -> Any:
    """Step an optimiser through gradients: the parameters after each step, and the last gradients as it leaves them.

    parameters  a list of tensors
    gradients   of each step: a tensor for each parameter, or None
    """
    own = _parameters(parameters)
    made = optimiser(own, *settings, **named)
    after = []
    for step in gradients:
        _step(made, own, step)
        after.append(_numbers(own))
    return (*after, [None if parameter.grad is None else parameter.grad.clone() for parameter in own])


@training
def resume(optimiser: Any, parameters: Any, gradients: Any, at: int, **named: Any) -> Any:
    """Save an optimiser after some steps, load it into another one, go on with both: the parameters of either.

    The other one has default settings, and steps of its own behind it.
    """
    first = _parameters(parameters)
    saver = optimiser((parameter for parameter in first), **named)
    for step in gradients[:at]:
        _step(saver, first, step)
    saved = copy.deepcopy(saver.state_dict())  # as a file would keep it

    second = _parameters(parameters)
    loader = optimiser(parameter for parameter in second)
    _step(loader, second, gradients[-1])
    with torch.no_grad():
        for parameter, other in zip(second, first, strict=True):
            parameter.copy_(other)
    loader.load_state_dict(saved)
    for step in gradients[at:]:
        _step(saver, first, step)
        _step(loader, second, step)
    return _numbers(first), _numbers(second)


@training
def clear(optimiser: Any, parameters: Any, gradients: Any, **named: Any) -> Any:
    """Step, clear the gradients, step again: what is left of the gradients in between, and the last parameters."""
    own = _parameters(parameters)
    made = optimiser((parameter for parameter in own), **named)
    _step(made, own, gradients[0])
    made.zero_grad()
    left = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in own]
    for step in gradients[1:]:
        _step(made, own, step)
        made.zero_grad()
    return left, _numbers(own)


@training
def learn(
    train_step: Any, embedding: Any, head: Any, kept: Any, batches: Any, lr: float, *settings: Any, **named: Any
) -> Any:
    """Train a small model, which comes in evaluation mode and with old gradients, a batch a step.

    Returns the losses, the weights, whether a loss still has its graph, and whether the optimiser was asked to step.
    """
    model = Model(embedding, head, kept).eval()
    optimizer = Descent(model.parameters(), lr)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    losses = [train_step(model, batch, optimizer, *settings, **named) for batch in batches]
    graph = any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses)
    weights = _numbers(model.parameters())
    return (*(_as_tensor(loss, embedding) for loss in losses), *weights, graph, optimizer.stepped)


@training
def measure(
    evaluate: Any, embedding: Any, head: Any, kept: Any, batches: Any, training: bool, *settings: Any, **named: Any
) -> Any:
    """Evaluate a small model that comes in either mode, with gradients: the loss, and what became of all that.

    The batches are a generator.
    """
    model = Model(embedding, head, kept).train(training)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    loss = evaluate(model, (batch for batch in batches), *settings, **named)
    left = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]
    return _as_tensor(loss, embedding), _numbers(model.parameters()), left, model.training, any(model.recorded)


class Model(torch.nn.Module):
    """Logits of the token that follows: of the mean embedding of all tokens so far.

    In training it keeps some features alone, as dropout does, but always the same.
    """

    def __init__(self, embedding: Any, head: Any, kept: Any) -> None:
        super().__init__()
        self.embedding = torch.nn.Parameter(embedding.detach().clone())
        self.head = torch.nn.Parameter(head.detach().clone())
        self.dropout = Kept(kept)
        self.recorded: list[bool] = []

    def forward(self, tokens: Any) -> Any:
        """Return logits (B, S, V) of tokens (B, S)."""
        self.recorded.append(torch.is_grad_enabled())
        x = torch.nn.functional.embedding(tokens, self.embedding)
        places = torch.arange(1, tokens.size(1) + 1, device=x.device)
        return self.dropout(x.cumsum(dim=1) / places[:, None]) @ self.head.transpose(0, 1)


class Kept(torch.nn.Module):
    """Lets all features through, and in training only some."""

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept = kept

    def forward(self, x: Any) -> Any:
        """Return x, or what is kept of it."""
        return x * self.kept if self.training else x


class Descent:
    """Gradient descent, with what a step of training needs of an optimiser of PyTorch."""

    def __init__(self, parameters: Any, lr: float) -> None:
        self.param_groups: list[dict[str, Any]] = [{"params": list(parameters), "lr": lr}]
        self.stepped = False

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None if set_to_none or parameter.grad is None else torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self) -> None:
        """Take a step."""
        self.stepped = True
        for parameter in self.param_groups[0]["params"]:
            if parameter.grad is not None:
                parameter.sub_(self.param_groups[0]["lr"] * parameter.grad)


def _as_tensor(loss: Any, like: Any) -> Any:
    if isinstance(loss, (float, int)):
        return torch.tensor(float(loss), dtype=like.dtype, device=like.device)
    return loss.detach().to(like.dtype) if isinstance(loss, torch.Tensor) else loss


def _parameters(tensors: Any) -> Any:
    return [torch.nn.Parameter(tensor.detach().clone()) for tensor in tensors]


def _numbers(parameters: Any) -> Any:
    return [parameter.detach().clone() for parameter in parameters]


def _step(optimiser: Any, parameters: Any, gradients: Any) -> None:
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else gradient.detach().clone()
    optimiser.step()


def _results_of_optimise(parameters: Any, gradients: Any, *_settings: Any, **_named: Any) -> tuple[str, ...]:
    del parameters
    return (*(f"after_step_{number + 1}" for number in range(len(gradients))), "gradients")


def _results_of_learn(
    embedding: Any, head: Any, kept: Any, batches: Any, *_rest: Any, **_named: Any
) -> tuple[str, ...]:
    del embedding, head, kept
    return (*(f"loss_{number + 1}" for number in range(len(batches))), "embedding", "head", "keeps_its_graph", "steps")


RESULTS: dict[str, Callable[..., tuple[str, ...]]] = {
    "optimise": _results_of_optimise,
    "resume": lambda *_, **__: ("saved", "loaded"),
    "clear": lambda *_, **__: ("gradients", "parameters"),
    "learn": _results_of_learn,
    "measure": lambda *_, **__: ("loss", "parameters", "gradients", "training", "records_a_graph"),
}
"""What the results of a scene are called, by its arguments."""
DRIVERS: dict[str, Callable[..., Any]] = {scene.__name__: scene for scene in (optimise, resume, clear, learn, measure)}
