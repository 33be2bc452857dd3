"""Runs one implementation: builds its modules, calls its functions, takes gradients.

The sandbox runs the learner's file through this class, and the judge runs the bank of known mistakes through it, so
that both are seen in exactly the same way. Nothing here knows how messages travel.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import torch

from grader.sandbox import levels, observe
from grader.sandbox.arguments import named, named_tensors
from grader.sandbox.drivers import DRIVERS
from grader.sandbox.training import NoLossError, Tell, train
from grader.sandbox.values import Snapshot, describe, same_bits
from grader.transport.memory import OWN
from grader.transport.wire import Packer, Unpacker, WireError, dtype_named

MODULE_NAME: Final = "kata_answer"
MOST_PARAMETERS: Final = 1500
RUN_BITS: Final = 10
"""Modules and results are numbered within the run of a case: these bits are theirs, the others are the run's."""

Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]
Given = tuple[Any, Any, Any]
"""The arguments, the keyword arguments and, of a module, the parameters of an operation."""

# What an answer could patch, taken before it is loaded.
_clone, _manual_seed, _grad = torch.Tensor.clone, torch.default_generator.manual_seed, torch.autograd.grad
_isinstance, _len, _is_inference = isinstance, len, torch.Tensor.is_inference
_Tensor, _Module, _Parameter = torch.Tensor, torch.nn.Module, torch.nn.Parameter
_apply, _module_to = torch.nn.Module._apply, torch.nn.Module.to  # noqa: SLF001 - an answer may override it


class AnswerError(Exception):
    """The answer lacks something that its contract asks for; the message is for the learner."""


def cotangent(like: torch.Tensor) -> torch.Tensor:
    """Fixed weights with which an output of this shape enters the scalar that is differentiated."""
    return _cotangent(tuple(like.shape), like.dtype).clone()


@cache
def _cotangent(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    steps = torch.arange(torch.Size(shape).numel(), dtype=torch.float64, device="cpu")
    return torch.cos(1.7 * steps + 0.3).reshape(shape).to(dtype)


class Executor:
    """One loaded implementation and the modules built from it."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.namespace: dict[str, Any] = {}
        self._modules: dict[int, Any] = {}
        self._kept: dict[int, Any] = {}
        self._callers: dict[int, dict[str, str]] = {}
        self._run = -1
        self._scripts = False
        self._handed_back: set[int] = set()

    def load(self, source: str) -> None:
        """Execute the file. Its tracebacks show lines although the file cannot be opened from in here."""
        linecache.cache[self.filename] = (len(source), None, source.splitlines(keepends=True), self.filename)
        module = types.ModuleType(MODULE_NAME)
        module.__file__ = self.filename
        sys.modules[MODULE_NAME] = module
        self.namespace = module.__dict__
        self._scripts = "jit" in source
        exec(compile(source, self.filename, "exec", dont_inherit=True), self.namespace)  # noqa: S102

    def defined(self, entries: list[str]) -> Header:
        """Tell which of these names the file does not define, and what classes and functions of its own it has."""
        own = [
            name
            for name, value in self.namespace.items()
            if isinstance(value, (type, types.FunctionType)) and value.__module__ == MODULE_NAME
        ]
        return {"missing": [name for name in entries if name not in self.namespace], "found": own}

    def forget(self, handles: list[int]) -> None:
        """Let go of modules whose cases are over."""
        for handle in handles:
            self._modules.pop(handle, None)

    def module(self, handle: int) -> torch.nn.Module | None:
        """Return the module of that number."""
        module = self._modules.get(handle)
        return module if isinstance(module, _Module) else None

    def adopt(self, handle: int, module: torch.nn.Module, state: Tensors) -> None:
        """Use a module once more, under a new number and with new parameters."""
        _fill(module, state)
        self._modules[handle] = module

    def do(self, header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
        """Do one operation, build or call."""
        return (self.build if header["op"] == "build" else self.call)(header, tensors)

    def build(self, header: Header, tensors: Tensors, given: Given | None = None) -> tuple[Header, Tensors]:
        """Build a module and copy the given parameters into it; ``given`` what is unpacked already.

        Answers with the names and shapes of its own parameters; the judge decides what is missing or too much.
        """
        self._enter(header["handle"] >> RUN_BITS)
        observe.ready(header["device"])
        args, kwargs, state = given or _unpacked(header, Unpacker(tensors))
        return self.build_from(header, args, kwargs, state)

    def build_from(self, header: Header, args: Any, kwargs: Any, state: Any) -> tuple[Header, Tensors]:
        """Build a module from arguments that are there."""
        _manual_seed(header["seed"])
        module = self._modules.get(header["handle"]) if header.get("again") else None
        if module is None:  # else its parameters are loaded once more
            caller = self._callers[header["handle"]] = levels.left_to_defaults(header, kwargs)
            with levels.defaults(caller.get("caller", ""), header["device"]):
                module = self._entry(header["entry"])(*args, **kwargs)
        parameters: list[Any] = []
        if isinstance(module, _Module):
            _convert(module, dtype_named(header["dtype"]))
            own = _fill(module, state)
            parameters = [[name[:100], list(p.shape)] for name, p in own.items()]
        elif header["wants_module"]:
            raise AnswerError(f"{header['entry']}(...) is {describe(module)}, not an nn.Module")
        self._modules[header["handle"]] = observe.place(module, header["device"])
        return {"kind": "built", "parameters": parameters[:MOST_PARAMETERS]}, {}

    def call(
        self, header: Header, tensors: Tensors, given: Given | None = None, packer: Packer | None = None
    ) -> tuple[Header, Tensors]:
        """Call a function, a module or a method of it; ``given`` what is unpacked already.

        Answers with the tree of what came back and what was observed. With a ``packer`` the tensors go there.
        """
        self._enter(header["key"] >> RUN_BITS)
        observe.ready(header["device"])
        self._handed_back.clear()
        module, target = self._target(header)
        given = given or _unpacked(header, _reader(header, tensors, self._returned))
        args, kwargs = observe.place(given[:2], header["device"])
        inputs = dict(named_tensors(args, kwargs, header["names"]))
        if self._callers.get(header["handle"]):  # what is a default while a module is built is one in its calls
            header = header | {"levels": (header.get("levels") or {}) | self._callers[header["handle"]]}
        header = levels.as_possible(header, args, kwargs, self._handed_back, scripts=self._scripts)
        call = partial(levels.make, header, target, args, kwargs, self._handed_back)
        levels.prepare(header, call, module, inputs)
        weights = _parameters(module) if module is not None and (header["inputs"] or header["grad"]) else {}
        watched = inputs | weights if header["inputs"] else {}
        given_lists = ((n, v) for n, v in named(args, kwargs, header["names"]) if isinstance(v, list))
        lists = [(name, value, list(value)) for name, value in given_lists] if header["inputs"] else []
        before = {name: _clone(tensor.detach()) for name, tensor in watched.items()}
        with levels.asking(header, inputs, weights, self._handed_back):
            with observe.watching(header, self.filename, (args, kwargs, module)) as seen:
                result = call()
            snapshot = Snapshot(to_cpu=observe.to_cpu, packer=packer)
            reply: Header = {"kind": "value", "value": snapshot.tree(result), "seen": seen()}
            self._kept[header["key"]] = result  # a later call may get it back, unless it is too large to be sent
            reply["modified"] = [name for name, tensor in watched.items() if not same_bits(tensor, before[name])]
            reply["modified"] += [name for name, now, then in lists if not _same_items(now, then)]
            if header["grad"]:
                with observe.tracing(header, self.filename) as forbidden:
                    reply["grads"] = _gradients(snapshot, inputs | weights, header["through"])
                reply["seen"].setdefault("forbidden", []).extend(forbidden())
        return reply, snapshot.tensors if packer is None else {}

    def train(self, header: Header, tensors: Tensors, tell: Tell) -> tuple[Header, Tensors]:
        """Train a module with a method of its own as the loss; answers with its parameters.

        See :func:`grader.sandbox.training.train`.
        """
        self._enter(header["key"] >> RUN_BITS)
        tree = Unpacker(tensors)
        data, order, rates = (tree.unpack(header[key]) for key in ("args", "order", "rates"))
        module, loss = self._target(header)
        if module is None:
            raise AnswerError(f"{header['entry']} has no parameters")
        _manual_seed(header["seed"])
        try:
            train(list(module.parameters()), loss, data, order, rates, tell)
        except NoLossError as error:
            sentence = f"{header['method']} returned {error}, expected a loss: a scalar with a gradient"
            raise AnswerError(sentence) from None
        snapshot = Snapshot()
        trained = snapshot.tree({name: p.detach() for name, p in _parameters(module).items()})
        return {"kind": "value", "value": trained, "seen": {}, "modified": []}, snapshot.tensors

    def trusted_call(self, header: Header, args: Any, kwargs: Any) -> tuple[Any, Tensors]:
        """Call code of our own with arguments of its own, unwatched. Returns the result and gradients by name."""
        module, target = self._target(header)
        if header["grad"]:
            sources = dict(named_tensors(args, kwargs, header["names"]))
            for tensor in sources.values():
                if tensor.is_floating_point():
                    tensor.requires_grad_()
            sources |= _parameters(module) if module is not None else {}
        _manual_seed(header["seed"])
        with torch.set_grad_enabled(header["grad"]):
            result = target(*args, **kwargs)
        if not header["grad"]:
            return result, {}
        snapshot = Snapshot()
        node = snapshot.tree(result)
        grads = _gradients(snapshot, sources, header["through"])
        tree = Unpacker(snapshot.tensors)
        return tree.unpack(node), {name: tree.unpack(grad) for name, grad in grads}

    def _enter(self, run: int) -> None:
        """Let go of what belongs to another run of a case: runs come one after the other."""
        if run != self._run:
            self._run = run
            self._modules.clear()
            self._kept.clear()
            self._callers.clear()

    def _returned(self, key: int, path: list[int | str]) -> Any:
        """Find what a call returned. Its tensors are the same, or share memory, and have no part in a gradient.

        A tuple of the same ones is the same, too, with what hangs on it, but for what was made in inference mode.
        """
        value = self._kept[key]
        for index in path:
            try:
                value = value[index]
            except (KeyError, IndexError, TypeError):
                raise AnswerError(f"what an earlier call returned has no part [{index!r}]") from None

        def share(item: Any) -> Any:
            if isinstance(item, _Tensor):
                shared = item.detach() if item.requires_grad else item  # else the very tensor, as of a caller
                self._handed_back.add(id(shared))
                return shared
            if not isinstance(item, (tuple, list)):
                return item
            parts = list(map(share, item))
            same = all(one is two and not _made_inside(two) for one, two in zip(parts, item, strict=True))
            return item if same and isinstance(item, tuple) else observe.rebuilt(item, parts)

        return share(value)

    def _entry(self, name: str) -> Any:
        if name not in self.namespace:
            raise AnswerError(f"the file defines no {name}")
        entry = self.namespace[name]
        if not callable(entry):
            raise AnswerError(f"{name} is {describe(entry)}, which cannot be called")
        return entry

    def _target(self, header: Header) -> tuple[torch.nn.Module | None, Any]:
        """Return the module that is called upon, switched to its mode, and what is called."""
        owner, target = self._owner_and_target(header)
        if not isinstance(owner, _Module):
            return None, target
        if header["method"] != "training":  # which is asked for to see what a call has left
            owner.train(bool(header["train"]))
        return owner, target

    def _owner_and_target(self, header: Header) -> tuple[Any, Any]:
        if header["handle"] is None:
            entry = self._entry(header["entry"])
            return None, partial(DRIVERS[header["driver"]], entry) if header.get("driver") else entry
        owner = self._modules[header["handle"]]
        if header.get("unroll"):
            return owner, partial(_unrolled, owner, *header["unroll"])
        if not header["method"]:
            if not callable(owner):
                raise AnswerError(f"{type(owner).__name__} cannot be called: it has no forward")
            return owner, owner
        member = owner
        for name in header["method"].split("."):  # of a layer, too
            if not hasattr(member, name):
                raise AnswerError(f"{type(member).__name__} has no {name}")
            member = getattr(member, name)
        return owner, member if callable(member) else lambda: member


def _made_inside(item: Any) -> bool:
    """Whether it is a tensor that was made in inference mode."""
    return isinstance(item, _Tensor) and _is_inference(item)


def unpacked(header: Header, tensors: Tensors) -> Given | None:
    """Unpack what an operation needs before its time; None where that has to wait for an earlier result."""
    try:
        return _unpacked(header, _reader(header, tensors))
    except WireError:
        return None


def _reader(
    header: Header, tensors: Tensors, returned: Callable[[int, list[int | str]], Any] | None = None
) -> Unpacker:
    """Read what a call is given; what is differentiated has memory of its own for each entry.

    A leaf that is expanded gets the mean of its entries' gradients through as_strided, their own through all else.
    """
    return Unpacker(tensors, returned, dense=bool(header.get("grad")), layout=header.get("layout", OWN))


def _unpacked(header: Header, tree: Unpacker) -> Given:
    args, kwargs = tree.unpack(header["args"]), tree.unpack(header["kwargs"])
    # The parameters are copied into the module's own: they need no memory of theirs.
    return args, kwargs, tree.unpack(header["state"], shared=True) if "state" in header else {}


def _unrolled(owner: Any, start: str, given: int, branches: int, meanwhile: int, *args: Any) -> tuple[Any, ...]:
    """Make a state of the first arguments, then call ``owner`` with each other one and the state of the call before.

    A call returns a result and a state; the states are the owner's own affair. With ``branches`` each call gets the
    first one. Of so many arguments ``meanwhile`` another state is made, which nobody uses.
    """
    if not hasattr(owner, start):
        raise AnswerError(f"{type(owner).__name__} has no {start}")
    state = getattr(owner, start)(*args[:given])
    if meanwhile:
        getattr(owner, start)(*args[given : given + meanwhile])
    results = []
    for argument in args[given + meanwhile :]:
        pair = owner(argument, state)
        if not isinstance(pair, (tuple, list)) or len(pair) != len(("result", "state")):
            what = "one tensor" if isinstance(pair, _Tensor) else describe(pair)
            raise AnswerError(f"{type(owner).__name__} returned {what}, expected a result and a state")
        results.append(pair[0])
        state = state if branches else pair[1]
    return tuple(results)


def _same_items(now: list[Any], then: list[Any]) -> bool:
    """Whether a list holds what it held: the same objects, or equal numbers and texts."""
    return _len(now) == _len(then) and all(
        one is two or (_isinstance(one, int | float | str) and type(one) is type(two) and one == two)
        for one, two in zip(now, then, strict=True)
    )


def _convert(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """Do what ``module.to(dtype)`` does, without its detours where nothing is to be done or nothing is unusual."""
    parts = list(module.modules())
    if any(type(part)._apply is not _apply or type(part).to is not _module_to for part in parts):  # noqa: SLF001
        module.to(dtype)
        return
    for part in parts:
        for parameter in part._parameters.values():  # noqa: SLF001 - as Module._apply does
            if parameter is not None and parameter.is_floating_point() and parameter.dtype != dtype:
                if torch.nn.parameter.is_lazy(parameter) or type(parameter) is not _Parameter:
                    module.to(dtype)
                    return
                parameter.data = parameter.data.to(dtype)
        for name, buffer in part._buffers.items():  # noqa: SLF001 - likewise
            if buffer is not None and buffer.is_floating_point() and buffer.dtype != dtype:
                part._buffers[name] = buffer.to(dtype)  # noqa: SLF001 - likewise


def _parameters(module: torch.nn.Module) -> Tensors:
    return dict(module.named_parameters(remove_duplicate=False))


def _fill(module: torch.nn.Module, state: Tensors) -> Tensors:
    """Copy what fits and is not there yet; what does not fit is seen from the names and shapes in the reply.

    What has not changed is left alone, as an optimiser leaves what is frozen. Returns the parameters.
    """
    own = _parameters(module)
    lazy = torch.nn.parameter.is_lazy
    if any(map(lazy, own.values())):
        module.load_state_dict({name: value for name, value in state.items() if name in own}, strict=False)
        return _parameters(module)
    with torch.no_grad():
        for name, value in state.items():
            if name in own and own[name].shape == value.shape and not _is_there(own[name], value):
                own[name].copy_(value)
    return own


def _is_there(own: torch.Tensor, value: torch.Tensor) -> bool:
    return own.dtype == value.dtype and own.device == value.device and torch.equal(own, value)


def _gradients(snapshot: Snapshot, sources: Tensors, through: list[bool] | None) -> list[list[Any]]:
    """Differentiate the outputs that carry a graph, or of these the ones that ``through`` names.

    Answers with a pair of name and node for each float source; the node is None where no path leads to it.
    """
    chosen = [t for i, t in enumerate(snapshot.live) if through is None or (i < len(through) and through[i])]
    outputs = [t for t in chosen if t.requires_grad and t.is_floating_point()]
    wanted = {name: source for name, source in sources.items() if source.requires_grad and source.is_floating_point()}
    if not outputs or not wanted:
        return [[name, None] for name in wanted]
    # One scalar: for a vector of outputs autograd imports its symbolic shapes, and sympy with them (half a second).
    scalar = torch.stack([(output * cotangent(output).to(output.device)).sum() for output in outputs]).sum()
    grads = _grad(scalar, list(wanted.values()), allow_unused=True)
    return [[name, None if g is None else snapshot.tensor(g)] for name, g in zip(wanted, grads, strict=True)]
