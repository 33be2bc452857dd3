"""How else a caller may go about the same call: what must not change a result, and is changed around calls here.

What levels there are, and which a run gets, is the judge's affair (:mod:`grader.judge.cases.levels`).
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from typing import Any, Final

import torch

from grader.sandbox import observe
from grader.sandbox.arguments import asked
from grader.transport.callables import steps_in
from grader.transport.wire import tensors_in

Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]

VIEWS: Final = "views"
CLONES: Final = "clones"
INPUTS: Final = "inputs"
STEPPED: Final = "stepped"
LOADED: Final = "loaded"
ROUND_TRIP: Final = "round trip"
INFERENCE: Final = observe.INFERENCE
MADE_INSIDE: Final = ("made", INFERENCE)
"""Of a call in inference mode: its tensors are made there."""
CONTINUED: Final = ("continued", INFERENCE)
"""Of a call in inference mode: it stays there also where it gets what an earlier one has returned there."""
FIRST: Final = ("first", INFERENCE)
"""Of a call in inference mode: none outside of it comes before."""
DEVICE: Final = observe.DEVICE_BY_DEFAULT
DTYPE: Final = "dtype"
HALF: Final = "bfloat16"
DEFAULT_DTYPES: Final = {DTYPE: torch.float64, HALF: torch.bfloat16}

# What an answer could patch, taken before it is loaded.
_Tensor, _clone, _copy, _roll = torch.Tensor, torch.Tensor.clone, torch.Tensor.copy_, torch.Tensor.roll
_data = getattr(_Tensor, "data").__get__  # noqa: B009 - for mypy it would be a tensor
_no_grad, _manual_seed = torch.no_grad, torch.default_generator.manual_seed
_deepcopy, _in_inference = copy.deepcopy, torch.is_inference_mode_enabled


class _Nowhere(io.TextIOBase):
    """Where an answer's prints go in a call that its author knows nothing of."""

    def write(self, text: str) -> int:
        """Forget it."""
        return len(text)


def as_possible(header: Header, args: Any, kwargs: Any, back: set[int], *, scripts: bool) -> Header:
    """Return the header of a call with the levels at which it can be made, and whether it ``keeps`` something.

    ``back``: the ids of tensors that an earlier call returned; ``scripts``: whether there is TorchScript in the answer.
    That does not go together with the simulated device as the default one; and what is made of no floating-point tensor
    has the default dtype by right. A call in inference mode that may keep something is one without gradients, unless a
    case has said that it goes on there.
    """
    levels: dict[str, str] = dict(header.get("levels") or {}) | left_to_defaults(header, kwargs)
    impossible = {DEVICE: scripts, DTYPE: not any(tensor.is_floating_point() for tensor in tensors_in((args, kwargs)))}
    if impossible.get(levels.get("caller", ""), False):
        del levels["caller"]
    keeps = _leaves_something(header, args, kwargs, back)
    recording = header.get("recording", "")
    if recording == INFERENCE and (scripts or (keeps and "continued" not in levels)):
        recording = "no_grad"
    return header | {"recording": recording, "levels": levels, "keeps": keeps}


def make(header: Header, target: Callable[..., Any], args: Any, kwargs: Any, back: set[int]) -> Any:
    """Make a call as a caller does whose ways are the levels in the header, which are possible; ``back`` as there."""
    levels = header["levels"]
    if "made" in levels and _in_inference():
        args, kwargs = _deepcopy((args, kwargs), {id(t): t for t in tensors_in((args, kwargs)) if id(t) in back})
    if "identity" in levels:
        args, kwargs = told_apart((args, kwargs), levels["identity"], back)
    _manual_seed(header["seed"])
    if "caller" not in levels:
        return target(*args, **kwargs)
    with defaults(levels["caller"], header["device"]):
        return target(*args, **kwargs)


def prepare(header: Header, call: Callable[[], Any], module: torch.nn.Module | None, inputs: Tensors) -> None:
    """Do what comes before a call: the same with other numbers in the same tensors, another mode and back.

    Where both come together the earlier call is one in the other mode: in evaluation, where this one trains. What
    comes of it is nobody's business: a kata may forbid the numbers. No earlier call is in inference mode, and each
    one that is has an earlier one: a table that is kept then lives outside, where a gradient may meet it. A case that
    asks for a call that comes ``first`` has none.
    """
    levels, in_inference = header["levels"], header["recording"] == INFERENCE
    other_mode = "mode" in levels
    if module is not None and other_mode:
        module.train(not header["train"])
    if ("before" in levels and not header["keeps"]) or (in_inference and FIRST[0] not in levels):
        outside = header | {"recording": "no_grad"} if in_inference else header
        nowhere = redirect_stdout(_Nowhere())
        with _other_numbers(levels, module, inputs), observe.recording(outside), suppress(Exception), nowhere:
            call()
    if module is not None and other_mode:
        module.train(bool(header["train"]))


@contextmanager
def asking(header: Header, inputs: Tensors, weights: Tensors, back: set[int]) -> Iterator[None]:
    """Let inputs and weights require gradients, or those that a level says, where any are taken; ``back`` as above.

    Weights are frozen for this call alone, also where it raises: a later one of its run may ask for all of them.
    """
    if not header["grad"]:
        yield
        return
    floating = {n: t for n, t in inputs.items() if t.is_floating_point() and id(t) not in back}
    level, number = header.get("asks", ("", 0))
    names, of_weights = asked(level, number, list(floating), weights=bool(weights))
    for name in names:
        floating[name].requires_grad_()
    frozen = [] if of_weights else [weight for weight in weights.values() if weight.requires_grad]
    for weight in frozen:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in frozen:
            weight.requires_grad_()


def _leaves_something(header: Header, args: Any, kwargs: Any, back: set[int]) -> bool:
    """Whether a call may keep a state, begins a module anew, continues an earlier call, or is counted."""
    counted = any(True for _step in steps_in((args, kwargs)))
    return bool(header.get("stateful") or header["method"] == "__init__" or back or counted)


def _other_numbers(
    levels: dict[str, str], module: torch.nn.Module | None, inputs: Tensors
) -> AbstractContextManager[None]:
    before = levels.get("before", "")
    if before == INPUTS:
        tensors = [tensor for tensor in inputs.values() if can_be_written(tensor)]
        return other_numbers(tensors, put_in_place(tensors))
    own = {} if module is None else dict(module.named_parameters())
    if not before or module is None or any(map(torch.nn.parameter.is_lazy, own.values())):
        return nullcontext()
    tensors = list(own.values())
    return other_numbers(tensors, put_in_place(tensors) if before == STEPPED else load_again(module, list(own)))


def told_apart(value: Any, how: str, spared: set[int]) -> Any:
    """Return arguments in which a tensor that occurs again is another object.

    A view of the first one, or a clone; those whose ids are ``spared`` stay as they are.
    """
    seen: set[int] = set()

    def walk(item: Any) -> Any:
        if isinstance(item, (tuple, list)):
            parts = [walk(part) for part in item]
            same = all(one is two for one, two in zip(parts, item, strict=True))
            return item if same else observe.rebuilt(item, parts)
        if isinstance(item, dict):
            return {key: walk(entry) for key, entry in item.items()}
        if not isinstance(item, _Tensor) or id(item) in spared:
            return item
        if id(item) not in seen:
            seen.add(id(item))
            return item
        return item.view_as(item) if how == VIEWS else _clone(item)

    return walk(value)


@contextmanager
def other_numbers(tensors: list[torch.Tensor], put_back: Callable[[list[torch.Tensor]], None]) -> Iterator[None]:
    """Let tensors hold other numbers of their own kind, in place; ``put_back`` gets the true ones afterwards.

    Each holds its own numbers in another order, so that nothing is larger or stranger than before.
    """
    with _no_grad():
        true = [_clone(tensor.detach()) for tensor in tensors]
        for number, (tensor, numbers) in enumerate(zip(tensors, true, strict=True), 1):
            _copy(tensor, _roll(numbers, number))
    try:
        yield
    finally:
        put_back(true)


def can_be_written(tensor: torch.Tensor) -> bool:
    """Whether each entry has a place of its own in memory."""
    return all(stride or size < 2 for stride, size in zip(tensor.stride(), tensor.shape, strict=True))


def put_in_place(tensors: list[torch.Tensor]) -> Callable[[list[torch.Tensor]], None]:
    """Return what writes numbers into these tensors, as a step by hand does through `.data`, or NumPy in its buffer.

    Autograd does not count that as a change, so a `_version` stays what it was; loading counts.
    """

    def put(numbers: list[torch.Tensor]) -> None:
        with _no_grad():
            for tensor, true in zip(tensors, numbers, strict=True):
                _copy(_data(tensor), true)

    return put


def load_again(module: torch.nn.Module, names: list[str]) -> Callable[[list[torch.Tensor]], None]:
    """Return what loads parameters of these names into a module."""

    def load(numbers: list[torch.Tensor]) -> None:
        module.load_state_dict(dict(zip(names, numbers, strict=True)), strict=False)

    return load


def left_to_defaults(header: Header, kwargs: dict[str, Any]) -> dict[str, str]:
    """Return the level of a caller who says `device=None`, or `dtype=None`: PyTorch's default then is the variant's."""
    if "device" in kwargs and kwargs["device"] is None and header["device"] != "cpu":
        return {"caller": DEVICE}
    if "dtype" in kwargs and kwargs["dtype"] is None and header["dtype"] == "float64":
        return {"caller": DTYPE}
    return {}


@contextmanager
def defaults(caller: str, device: str) -> Iterator[None]:
    """Let the caller have set another default device, or another default dtype than the inputs have."""
    with ExitStack() as stack:
        if caller == DEVICE and device != "cpu":
            stack.enter_context(torch.device(device))
        elif caller in DEFAULT_DTYPES:
            before = torch.get_default_dtype()
            torch.set_default_dtype(DEFAULT_DTYPES[caller])
            stack.callback(torch.set_default_dtype, before)
        yield
