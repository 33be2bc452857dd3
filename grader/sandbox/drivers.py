"""Scenes that a function or class is put into where what it takes does not travel: parameters, a model, an optimiser.

A driver makes these of tensors, in answer and reference alike, and returns tensors, which are compared like any result.
It gets the answer's entry first. This file is written into the script for a debugger as it stands.
"""

import copy
import functools
from collections.abc import Callable, Iterable
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

    The other one has default settings and a step behind it, is loaded twice, and steps where no graph is recorded.
    """
    first = _parameters(parameters)
    saver = optimiser((parameter for parameter in first), **named)
    for step in gradients[:at]:
        _step(saver, first, step)
    saved = copy.deepcopy(saver.state_dict())  # as a file would keep it

    second = _parameters(parameters)
    with torch.no_grad():
        loader = optimiser(parameter for parameter in second)
        _step(loader, second, gradients[-1])
        for parameter, other in zip(second, first, strict=True):
            parameter.copy_(other)
    loader.load_state_dict(saved)
    with torch.no_grad():
        loader.load_state_dict(copy.deepcopy(loader.state_dict()))
        for step in gradients[at:]:
            _step(loader, second, step)
    for step in gradients[at:]:
        _step(saver, first, step)
    return _numbers(first), _numbers(second)


@training
def clear(optimiser: Any, parameters: Any, gradients: Any, **named: Any) -> Any:
    """Step, clear the gradients, step again: what is left of gradients at first and at last, and the last parameters.

    The first gradients come again at last. Where no graph is recorded it is built, and cleared at last; what never gets
    a gradient is frozen.
    """
    own = _parameters(parameters)
    for parameter, *given in zip(own, *gradients, strict=True):
        parameter.requires_grad_(any(gradient is not None for gradient in given))
    with torch.no_grad():
        made = optimiser((parameter for parameter in own), **named)
    _step(made, own, gradients[0])
    made.zero_grad()
    left = _gradients(own)
    for step in gradients[1:]:
        _step(made, own, step)
        made.zero_grad()
    _step(made, own, gradients[0])
    with torch.no_grad():
        made.zero_grad()
    return left + _gradients(own), _numbers(own)


@training
def learn(
    train_step: Any, embedding: Any, head: Any, kept: Any, batches: Any, lr: float, *settings: Any, **named: Any
) -> Any:
    """Train a small model, which comes in evaluation mode and with old gradients, a batch a step.

    Returns the losses, the weights, whether a loss still has its graph, and whether the optimiser was asked to step.
    """
    model = _Model(embedding, head, kept).eval()
    optimizer = _Descent(model.parameters(), lr)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    losses = []
    for batch in batches:
        model.dropout.eval()  # a part of it, while the rest may train
        losses.append(train_step(model, batch, optimizer, *settings, **named))
    graph = any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses)
    return (*(_as_tensor(loss, embedding) for loss in losses), *_numbers(model.parameters()), graph, optimizer.stepped)


@training
def measure(
    evaluate: Any, embedding: Any, head: Any, kept: Any, batches: Any, training: bool, *settings: Any, **named: Any
) -> Any:
    """Evaluate a small model that comes in either mode, with gradients: the loss, and what became of all that.

    The batches are a generator. Where the model trains, graphs are recorded around the call, and nowhere else; where it
    does not, its head is frozen, and the loss comes once more, from inference mode.
    """
    model = _Model(embedding, head, kept).train(training)
    model.head.requires_grad_(training)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    again: list[Any] = []
    with torch.set_grad_enabled(training):
        loss, recording = evaluate(model, (batch for batch in batches), *settings, **named), torch.is_grad_enabled()
    if not training:
        with torch.inference_mode():
            again = [_as_tensor(evaluate(model, (batch for batch in batches), *settings, **named), embedding)]
    left, learns = _gradients(model.parameters()), [parameter.requires_grad for parameter in model.parameters()]
    first, numbers = _as_tensor(loss, embedding), _numbers(model.parameters())
    return first, numbers, left, model.training, any(model.recorded), recording, learns, *again


def adapt(
    lora: Any,
    weight: Any,
    bias: Any,
    A: Any,  # noqa: N803 - as the kata calls it
    B: Any,  # noqa: N803 - likewise
    x: Any,
    alpha: float,
    does: Any = (),
    *settings: Any,
    **named: Any,
) -> Any:
    """Call a layer that adapts a linear one: at first, and after each thing that it `does`.

    weight, bias  of the linear layer; bias may be None
    A, B          the numbers of its parameters of these names
    does          names of methods, or `step`: one of gradient descent; `copy`: go on with a copy; `load`: go on with a
                  layer around another linear one, which loads the state of this one; `refill`: a call in between with
                  other numbers in the same x; `unmerge in double`: moved to float64, unmerged, called there, and moved
                  back; `again`: nothing. Several, with ` then ` between them, are done before the next call; behind
                  `no_grad ` or `inference_mode ` a method is called there

    The last result alone keeps its graph: a method may change the weights in between.
    """
    layer = _adapted(lora, weight, bias, A.size(0), alpha, *settings, **named)
    _put_in(layer, A, B)
    results = [layer(x)]
    for words in does:
        results[-1] = results[-1].detach() if isinstance(results[-1], torch.Tensor) else results[-1]
        for word in words.split(" then "):
            layer = _after(word, layer, x, lambda: _elsewhere(lora, weight, bias, A.size(0), alpha, *settings, **named))
        results.append(layer(x))
    _is_frozen(layer)
    return tuple(results)


def begin(lora: Any, weight: Any, bias: Any, x: Any, r: int, alpha: float, *settings: Any, **named: Any) -> Any:
    """Build a layer that adapts a linear one, and call it: the result, and what its parameters are."""
    layer = _adapted(lora, weight, bias, r, alpha, *settings, **named)
    result = layer(x)
    a, b = _parameter(layer, "A").detach(), _parameter(layer, "B").detach()
    differ = (a.flatten()[:, None] == a.flatten()).sum() < 2 * a.numel()  # each equals itself, and hardly another one
    _is_frozen(layer)
    return result, list(a.shape), list(b.shape), (b == 0).all(), (a == 0).any(), differ


def drop(lora: Any, weight: Any, bias: Any, A: Any, B: Any, x: Any, alpha: float, rate: float) -> Any:  # noqa: N803 - likewise
    """Call a layer with dropout in training, twice, and once with B = 0: where it drops, how much, and what goes back.

    A and B are square and their own inverses, so that it can be told from the results. x is nowhere near 0.
    """
    layer = _adapted(lora, weight, bias, A.size(0), alpha, rate)
    _put_in(layer, A, B)
    layer.train()
    x = x.detach()
    base = torch.nn.functional.linear(x, weight, bias)
    whole = torch.stack([x, x @ A.T, x @ A.T @ B.T])
    first, second = ((layer(x).detach() - base) * (A.size(0) / alpha) for _ in range(2))
    seen = torch.stack([first @ B @ A, first @ B, first])
    places = ((seen.abs() < 0.01) | (((1 - rate) * seen - whole).abs() < 0.01)).flatten(1).all(-1)
    dropped, again = ((one @ B @ A).abs() < 0.01 for one in (first, second))
    as_many = (dropped.to(x.dtype).mean() - rate).abs() < 0.1
    alike = (dropped == dropped[:, :1]).all() | (dropped == dropped[..., :1]).all() | (dropped == dropped[:1]).all()
    with torch.inference_mode(mode=False), torch.enable_grad():
        x = x.clone().requires_grad_()
        side = layer(x) - torch.nn.functional.linear(x, weight, bias)  # which grows in proportion with x
        follows = ((torch.autograd.grad(side, x, side)[0] * x).sum() / side.square().sum() - 1).abs() < 0.01
    _put_in(layer, A, torch.zeros_like(B))
    return (*places, (layer(x) - base).abs().max() < 0.01, as_many, ~alike, (dropped != again).any(), follows)


def _adapted(lora: Any, weight: Any, bias: Any, *settings: Any, **named: Any) -> Any:
    """Build a layer around a linear one with this weight; in evaluation mode, outside of inference mode."""
    with torch.inference_mode(mode=False), torch.enable_grad():
        base = torch.nn.Linear(weight.size(1), len(weight), bias is not None, dtype=weight.dtype, device=weight.device)
        with torch.no_grad():
            base.weight.copy_(weight)
            if bias is not None:
                base.bias.copy_(bias)
        return lora(base, *settings, **named).eval()


def _elsewhere(lora: Any, weight: Any, bias: Any, *settings: Any, **named: Any) -> Any:
    """Build a layer around another linear one, on the CPU and in the default dtype, with other numbers."""
    other = torch.nn.Linear(weight.size(1), weight.size(0), bias is not None, device="cpu", dtype=torch.float32)
    return lora(other, *settings, **named).eval().to(device=weight.device, dtype=weight.dtype)


def _parameter(layer: Any, name: str) -> Any:
    if not isinstance(own := getattr(layer, name, None), torch.nn.Parameter):
        raise RuntimeError(f"{name} is a {type(own).__name__}, expected an nn.Parameter")  # noqa: TRY004 - as torch says it
    return own


def _put_in(layer: Any, a: Any, b: Any) -> None:
    for name, numbers in {"A": a, "B": b}.items():
        own = _parameter(layer, name)
        if own.shape != numbers.shape:
            raise RuntimeError(f"{name} has the shape {tuple(own.shape)}, expected {tuple(numbers.shape)}")
        with torch.no_grad():
            own.copy_(numbers)


@training
def _after(word: str, layer: Any, x: Any, another: Callable[[], Any]) -> Any:
    """Return the layer that is called next."""
    if word == "step":
        descent = _Descent(layer.parameters(), lr=0.01)
        descent.zero_grad()
        layer(x.detach()).square().mean().backward()
        descent.step()
    elif word == "copy":
        before, layer = layer, copy.deepcopy(layer)
        _put_in(before, layer.B.new_ones(layer.A.shape), layer.B.new_ones(layer.B.shape))
    elif word == "load":
        before, layer = layer, another().train(layer.training)
        layer(x.detach())
        layer.load_state_dict(copy.deepcopy(before.state_dict()))
    elif word == "refill":
        with torch.no_grad():
            numbers = x.detach().clone()
            layer(x.copy_(numbers.roll(1)))
            x.copy_(numbers)
    elif word == "unmerge in double":
        layer.double().unmerge()
        layer(x.detach().double())
        layer.to(x.dtype)
    elif word != "again":
        where, _, method = word.rpartition(" ")
        with getattr(torch, where or "enable_grad")():
            getattr(layer, method)()
    return layer


def _is_frozen(layer: Any) -> None:
    """Raise RuntimeError where more than A and B is trained, or less."""
    more = [name for name, p in layer.named_parameters() if p.requires_grad and p is not layer.A and p is not layer.B]
    if more or not (layer.A.requires_grad and layer.B.requires_grad):
        raise RuntimeError(f"only A and B learn, but requires_grad is {bool(more)} for {', '.join(more) or 'A or B'}")


class _Model(torch.nn.Module):
    """Logits of the token that follows: of the mean embedding of all tokens so far.

    In training it keeps the same features each time, as dropout might. One part of it has the embedding once more.
    """

    def __init__(self, embedding: Any, head: Any, kept: Any) -> None:
        super().__init__()
        self.embedding = torch.nn.Parameter(embedding.detach().clone())
        self.head = torch.nn.Parameter(head.detach().clone())
        self.dropout = _Kept(kept)
        self.tied = torch.nn.Module()
        self.tied.weight = self.embedding
        self.recorded: list[bool] = []

    def forward(self, tokens: Any) -> Any:
        """Return logits (B, S, V) of tokens (B, S)."""
        self.recorded.append(torch.is_grad_enabled())
        x = torch.nn.functional.embedding(tokens, self.embedding)
        places = torch.arange(1, tokens.size(1) + 1, device=x.device)
        return self.dropout(x.cumsum(dim=1) / places[:, None]) @ self.head.transpose(0, 1)


class _Kept(torch.nn.Module):
    """Lets all features through, and in training only some."""

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept = kept

    def forward(self, x: Any) -> Any:
        return x * self.kept if self.training else x


class _Descent:
    """Gradient descent, each parameter in a group of its own, with what a step needs of an optimiser of PyTorch."""

    def __init__(self, parameters: Any, lr: float) -> None:
        self.param_groups: list[dict[str, Any]] = [{"params": [one], "lr": lr} for one in parameters]
        self.stepped = False

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in (one for group in self.param_groups for one in group["params"]):
            parameter.grad = None if set_to_none or parameter.grad is None else torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self) -> None:
        self.stepped = True
        for parameter in (one for group in self.param_groups for one in group["params"]):
            if parameter.grad is not None:
                parameter.sub_(self.param_groups[0]["lr"] * parameter.grad)


def _as_tensor(loss: Any, like: Any) -> Any:
    if isinstance(loss, (float, int)):
        return torch.tensor(float(loss), dtype=like.dtype, device=like.device)
    return loss.detach().to(like.dtype) if isinstance(loss, torch.Tensor) else loss


def _parameters(tensors: Any) -> Any:
    return [torch.nn.Parameter(_copied(tensor)) for tensor in tensors]


def _copied(tensor: Any) -> Any:
    """Return a copy that lies in memory as the tensor does: behind other numbers, in a wider one, transposed."""
    sizes, strides, begin = tensor.size(), tensor.stride(), tensor.storage_offset()
    if not tensor.numel() or 0 in strides:
        return tensor.detach().clone()
    length = begin + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return tensor.new_ones(length).as_strided(sizes, strides, begin).copy_(tensor.detach())


def _gradients(parameters: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Return what the gradients are now, zeros where there are none."""
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in parameters]


def _numbers(parameters: Any) -> Any:
    return [parameter.detach().clone() for parameter in parameters]


def _step(optimiser: Any, parameters: Any, gradients: Any) -> None:
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else _copied(gradient)
    optimiser.step()


_SCENES = (optimise, resume, clear, learn, measure, adapt, begin, drop)
DRIVERS: dict[str, Callable[..., Any]] = {scene.__name__: scene for scene in _SCENES}
