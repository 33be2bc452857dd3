"""The ``check`` of a case: runs answer and reference on the same inputs and compares what comes back.

How cases use it stands in ``docs/writing-a-kata.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.judge import compare as comparison
from grader.judge.failure import Failure, Satisfied, from_reply, learner_line, raised_types
from grader.judge.grading import SEED_OF_CALLS, Backend, Grading, Signature, unreadable
from grader.judge.numbers import Numbers
from grader.judge.observed import observed_failure
from grader.sandbox.wire import Packer, Tree, Unpacker, WireError, dtype_name, strings, tensors_in

@dataclass(frozen=True, slots=True)
class Variant:
    """In which way a case runs: its family and what the family asks for."""

    family: str
    label: str = ""
    dtype: torch.dtype = torch.float32
    grad: bool = False
    device: str = "cpu"
    trace: bool = False
    compares_values: bool = True


@dataclass(slots=True)
class Exchange:
    """One operation that the answer did, and what it did."""

    header: dict[str, Any]
    call: str
    reply: dict[str, Any]
    value: Tree = None
    grads: dict[str, torch.Tensor | None] = field(default_factory=dict)
    answer_arguments: Tree = None


class Result:
    """What a call returned: the answer's value and, where it was compared, the reference's."""

    def __init__(self, got: Tree, want: Tree) -> None:
        self.got, self.want = got, want

    def __getitem__(self, index: int | str) -> Result:
        return Result(self.got[index], None if self.want is None else self.want[index])

    def __iter__(self) -> Iterator[Result]:
        return (self[index] for index in range(len(self.got)))

    def __len__(self) -> int:
        return len(self.got)

    @property
    def shape(self) -> torch.Size:
        """Shape of the answer's tensor."""
        return self.got.shape  # type: ignore[no-any-return]


class Check:
    """What a case calls. One for each case and variant."""

    def __init__(self, grading: Grading, variant: Variant, numbers: Numbers, backend: Backend) -> None:
        self.grading, self.variant, self.numbers, self.backend = grading, variant, numbers, backend
        self.exchanges: list[Exchange] = []
        self._expected: tuple[type[BaseException], ...] = ()
        self._handles = 0

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the variant."""
        return self.variant.dtype

    @property
    def family(self) -> str:
        """The family of the variant."""
        return self.variant.family

    # --- what a case calls ---------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the only function of the kata, compared."""
        return self._function().__call__(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the only function of the kata without comparing values."""
        return self._function().run(*args, **kwargs)

    def module(self, *args: Any, **kwargs: Any) -> Any:
        """Build the only class of the kata."""
        classes = [s for s in self.grading.signatures.values() if s.is_class]
        if len(classes) != 1:
            raise TypeError("this kata has several classes: use check[name](...)")
        return Entry(self, classes[0])(*args, **kwargs)

    def __getitem__(self, name: str) -> Entry:
        return Entry(self, self.grading.signatures[name])

    @contextmanager
    def raises(self, *errors: type[BaseException]) -> Iterator[None]:
        """Expect the call inside to raise one of these."""
        self._expected = errors
        try:
            yield
        except Satisfied:
            return
        finally:
            self._expected = ()
        names = " or ".join(error.__name__ for error in errors)
        last = self.exchanges[-1] if self.exchanges else None
        raise Failure("no-error", f"expected {names}, but nothing was raised", call=last.call if last else "")

    def same(self, first: Any, second: Any, sentence: str) -> None:
        """Two results of the answer are equal bit for bit."""
        if self.variant.compares_values and not comparison.same_bits(got(first), got(second)):
            raise self._fact(sentence)

    def close(self, first: Any, second: Any, sentence: str) -> None:
        """Two results of the answer are equal within the tolerance of their dtype."""
        for one, two in zip(tensors_in(got(first)), tensors_in(got(second)), strict=True):
            if self.variant.compares_values and comparison.compare(one, two.double(), one.dtype) is not None:
                raise self._fact(sentence)

    def that(self, condition: Any, sentence: str) -> None:
        """Check any other fact about the answer's results."""
        if self.variant.compares_values and not bool(condition):
            raise self._fact(sentence)

    def _fact(self, sentence: str) -> Failure:
        last = self.exchanges[-1] if self.exchanges else None
        return Failure("fact", sentence, call=last.call if last else "", size=_size(last.answer_arguments) if last else 0)

    def _function(self) -> Entry:
        functions = [s for s in self.grading.signatures.values() if not s.is_class]
        if len(functions) != 1:
            raise TypeError("this kata has several functions: use check[name](...)")
        return Entry(self, functions[0])

    # --- the exchange --------------------------------------------------------------------------------------------------

    def next_handle(self) -> int:
        """Number the modules of the case."""
        self._handles += 1
        return self._handles

    def exchange(self, header: dict[str, Any], trees: dict[str, Tree], call: str, *, compared: bool = True, names: tuple[str, ...] = ()) -> Any:
        """Let answer and reference do one operation. Raises Failure, Satisfied inside ``raises``, or returns a Result."""
        answer_trees = {key: cast(got(tree), self.dtype) for key, tree in trees.items()}
        exchange = self._ask(header, answer_trees, call)
        size = _size(answer_trees.get("args"))
        try:
            if self._expected:
                self._expect(exchange, header, trees)
            failure = from_reply(exchange.reply)
            if failure is not None:
                raise failure
            if header["op"] == "build":
                self._reference(header, trees)
                return exchange.reply
            try:
                return self._judged(exchange, header, trees, compared=compared, names=names)
            except WireError as error:
                raise unreadable(error) from None
        except Failure as failure:
            failure.call = failure.call or call
            failure.size = size
            raise

    def _ask(self, header: dict[str, Any], trees: dict[str, Tree], call: str) -> Exchange:
        packer = Packer()
        packed = header | {key: packer.pack(tree) for key, tree in trees.items()}
        packed |= {"dtype": dtype_name(self.dtype), "device": self.variant.device, "trace": self._trace(), "through": None}
        exchange = Exchange(packed, call, {"kind": "unanswered"}, answer_arguments=trees)
        self.exchanges.append(exchange)
        try:
            exchange.reply, tensors = self.backend.request(packed, packer.tensors)
        except Failure as failure:
            exchange.reply = {"kind": failure.kind}
            failure.call = call
            raise
        if exchange.reply["kind"] == "value":
            try:
                tree = Unpacker(tensors)
                exchange.value = tree.unpack(exchange.reply["value"])
                exchange.grads = {name: tree.unpack(node) for name, node in exchange.reply.get("grads", [])}
            except (WireError, KeyError, TypeError, ValueError, RuntimeError) as error:
                raise unreadable(error if isinstance(error, WireError) else WireError("a malformed reply")) from None
        return exchange

    def _trace(self) -> dict[str, Any] | None:
        kata = self.grading.kata
        return {"forbidden": list(kata.forbidden), "allowed": list(kata.allowed)} if self.variant.trace else None

    def _expect(self, exchange: Exchange, header: dict[str, Any], trees: dict[str, Tree]) -> None:
        """Inside ``raises``: the answer must raise, and so does the reference, or the case is wrong."""
        expected = [f"{error.__module__}.{error.__name__}" for error in self._expected]
        names = " or ".join(error.__name__ for error in self._expected)
        try:
            self._reference(header, trees)
        except self._expected:
            pass
        else:
            if exchange.reply["kind"] in ("built", "value"):
                return  # neither raised: the call that must is still to come, or `raises` reports that none did
            raise AssertionError(f"the reference does not raise {names} in {exchange.call}")
        if exchange.reply["kind"] in ("built", "value"):
            raise Failure("no-error", f"expected {names}, but nothing was raised", call=exchange.call)
        if exchange.reply["kind"] == "error" and any(base in expected for base in raised_types(exchange.reply)):
            raise Satisfied
        failure = from_reply(exchange.reply)
        if failure is not None and failure.kind != "stub":
            failure.message = f"expected {names}, got {failure.message}"
        raise failure or Failure("no-error", f"expected {names}", line=learner_line(exchange.reply))

    def _reference(self, header: dict[str, Any], trees: dict[str, Tree], through: list[bool] | None = None) -> tuple[Tree, dict[str, Any]]:
        """Run the reference in float64 on inputs of its own, rounded as the answer's were."""
        packer = Packer()
        packed = header | {key: packer.pack(cast(want(tree), self.dtype, torch.float64)) for key, tree in trees.items()}
        packed |= {"dtype": "float64", "device": "cpu", "trace": None, "through": through}
        reply, tensors = self.grading.reference.request(packed, packer.tensors)
        if reply["kind"] == "built":
            return reply, {}
        tree = Unpacker(tensors)
        return tree.unpack(reply["value"]), {name: tree.unpack(node) for name, node in reply.get("grads", [])}

    def _judged(self, exchange: Exchange, header: dict[str, Any], trees: dict[str, Tree], *, compared: bool, names: tuple[str, ...]) -> Result:
        reply, variant = exchange.reply, self.variant
        failure = observed_failure(reply, variant.device)
        if failure is not None:
            raise failure
        expected: Tree = None
        if compared and variant.compares_values:
            # An answer may detach what it returns besides its result; the result itself must carry the graph.
            carries = [index == 0 or node["grad"] is True for index, node in enumerate(tensor_nodes(reply["value"]))]
            through = carries if variant.grad else None
            expected, expected_grads = self._reference(header, trees, through)
            mismatch = comparison.compare(exchange.value, expected, self.dtype, names)
            if mismatch is not None:
                raise Failure(mismatch.kind, mismatch.message)
            if variant.grad:
                self._compare_gradients(exchange.grads, expected_grads, exchange.value)
        elif compared:  # nothing is compared here, but a cache of the reference may be handed on
            expected, _ = self._reference(header, trees)
        modified = strings(reply.get("modified", []))
        if modified:
            raise Failure("modified", f"your code changed its input {', '.join(modified)} in place")
        return Result(exchange.value, expected)

    def _compare_gradients(self, grads: dict[str, Any], expected: dict[str, Any], value: Tree) -> None:
        for name, reference in expected.items():
            mine = grads.get(name)
            if reference is None:
                reference = torch.zeros(()) if mine is None else torch.zeros_like(mine)
            if mine is None:
                if float(reference.abs().max() if reference.numel() else 0) > comparison.SMALLEST_SCALE * 1e-6:
                    raise Failure("no-gradient", f"no gradient reaches {name}: the result is cut off from it (detached, rebuilt or a constant)")
                continue
            mismatch = comparison.compare(mine, reference, self.dtype, (f"gradient of {name}",))
            if mismatch is not None:
                raise Failure(f"gradient-{mismatch.kind}", mismatch.message)


class Entry:
    """A function or class of the kata, called in answer and reference."""

    def __init__(self, check: Check, signature: Signature) -> None:
        self._check, self._signature = check, signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, or build the module with the reference's fresh weights."""
        if self._signature.is_class:
            return Module(self._check, self._signature, args, kwargs)
        return self._call(args, kwargs, compared=True)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function without comparing values."""
        return self._call(args, kwargs, compared=False)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, compared: bool) -> Any:
        signature = self._signature
        header = call_header(signature, entry=signature.name, grad=self._check.variant.grad)
        text = f"{signature.name}({describe_arguments(args, kwargs, signature.names)})"
        return self._check.exchange(header, {"args": args, "kwargs": kwargs}, text, compared=compared, names=signature.returns)


class Module:
    """A module that was built in answer and reference with the same weights."""

    def __init__(self, check: Check, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._check, self._signature, self._arguments = check, signature, (args, kwargs)
        self._handle, self._training = check.next_handle(), False
        self._text = f"{signature.name}({describe_arguments(args, kwargs, ())})"
        self._state = self._fresh_weights()
        self._build()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it, compared."""
        return self._call("", args, kwargs, compared=True)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call it without comparing values."""
        return self._call("", args, kwargs, compared=False)

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call another method, or read an attribute, compared."""
        return self._call(name, args, kwargs, compared=True)

    def train(self) -> Module:
        """Switch both to training mode."""
        self._training = True
        return self

    def eval(self) -> Module:
        """Switch both to evaluation mode."""
        self._training = False
        return self

    def set(self, **parameters: torch.Tensor) -> Module:
        """Overwrite parameters in both; ``__`` stands for a dot."""
        self._state |= {name.replace("__", "."): value for name, value in parameters.items()}
        self._build()
        return self

    def _fresh_weights(self) -> dict[str, torch.Tensor]:
        """Weights for every parameter of the reference; empty for a class that refuses to be built."""
        args, kwargs = self._arguments
        initial = self._check.grading.initial_parameters(self._signature, args, kwargs)
        return {name: self._check.numbers.weights_like(value) for name, value in initial.items()}

    def _build(self) -> None:
        header = {
            **{"op": "build", "entry": self._signature.name, "handle": self._handle, "train": self._training},
            **{"wants_module": self._signature.is_module, "seed": SEED_OF_CALLS},
        }
        args, kwargs = self._arguments
        reply = self._check.exchange(header, {"args": args, "kwargs": kwargs, "state": self._state}, self._text)
        if self._signature.is_module:
            failure = missing_parameters(reply, self._state)
            if failure is not None:
                failure.call = self._text
                raise failure

    def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, compared: bool) -> Any:
        signature = self._signature
        header = call_header(signature, handle=self._handle, method=method, train=self._training, grad=self._check.variant.grad)
        names = () if method else signature.names
        text = f"{self._text}{'.' + method if method else ''}({describe_arguments(args, kwargs, names)})"
        returns = () if method else signature.returns
        return self._check.exchange(header, {"args": args, "kwargs": kwargs}, text, compared=compared, names=returns)


def call_header(
    signature: Signature, *, entry: str = "", handle: int | None = None, method: str = "", train: bool = False, grad: bool = False
) -> dict[str, Any]:
    """Return the header of a call, without its arguments."""
    return {
        **{"op": "call", "entry": entry, "handle": handle, "method": method, "train": train, "grad": grad},
        **{"names": [] if method else list(signature.names), "seed": SEED_OF_CALLS},
    }


def missing_parameters(reply: dict[str, Any], state: dict[str, torch.Tensor]) -> Failure | None:
    """Compare the parameters of the answer's module with the contract's: names, shapes, and no bias that nobody asked for."""
    try:
        own = {name: tuple(shape) for name, shape in reply["parameters"] if type(name) is str}
    except (KeyError, TypeError, ValueError):
        return unreadable(WireError("a malformed list of parameters"))
    for name, value in state.items():
        if name not in own:
            layer = name.partition(".")[0]
            has = ", ".join(sorted({n.partition(".")[0] for n in own})) or "none at all"
            what = f"no parameter {name}" if any(n.partition(".")[0] == layer for n in own) else f"no layer {layer}"
            return Failure("parameters", f"your module has {what}; its own are: {has}")
        if own[name] != tuple(value.shape):
            return Failure("parameters", f"{name} has shape {own[name]}, expected {tuple(value.shape)}")
    layers = {name.rpartition(".")[0] for name in state if "." in name}
    extra = [name for name in own if name not in state and name.rpartition(".")[0] in layers]
    return Failure("parameters", f"your module has a parameter {extra[0]} that the contract does not have here") if extra else None


def tensor_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of tensors in a reply's tree, in the order in which they were collected."""
    if type(tree) is dict:
        if "t" in tree:
            yield tree
        for key in ("p", "l"):
            for item in tree.get(key, ()):
                yield from tensor_nodes(item)
        for pair in tree.get("d", ()):
            yield from tensor_nodes(pair[1])


def got(value: Any) -> Any:
    """Return the answer's side of an argument."""
    return _side(value, "got")


def want(value: Any) -> Any:
    """Return the reference's side of an argument."""
    return _side(value, "want")


def _side(value: Any, side: str) -> Any:
    if isinstance(value, Result):
        return getattr(value, side)
    if isinstance(value, (tuple, list)):
        return type(value)(_side(item, side) for item in value)
    if isinstance(value, dict):
        return {key: _side(item, side) for key, item in value.items()}
    return value


def cast(tree: Any, *dtypes: torch.dtype) -> Any:
    """Cast the float tensors of a tree through these dtypes; the same tensor stays one object."""
    done: dict[int, torch.Tensor] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in done:
                result = value
                for dtype in dtypes:
                    result = result.to(dtype) if result.is_floating_point() else result
                done[id(value)] = result
            return done[id(value)]
        if isinstance(value, (tuple, list)):
            return type(value)(walk(item) for item in value)
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        return value

    return walk(tree)


def describe_arguments(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...]) -> str:
    """Write arguments as a reader would: tensors by name and shape, everything else as it is."""
    parts = []
    for index, value in enumerate(args):
        name = names[index] if index < len(names) else ""
        parts.append(_describe(name, got(value)))
    parts += [_describe(name, got(value)) if _holds_tensor(value) else f"{name}={got(value)!r}" for name, value in kwargs.items()]
    return ", ".join(parts)


def _holds_tensor(value: Any) -> bool:
    return any(True for _ in tensors_in(got(value)))


def _describe(name: str, value: Any) -> str:
    if isinstance(value, torch.Tensor):
        kind = " bool" if value.dtype == torch.bool else " int64" if value.dtype == torch.int64 else ""
        return f"{name} {tuple(value.shape)}{kind}".strip()
    if isinstance(value, (tuple, list)):
        inside = ", ".join(_describe("", item) for item in value)
        return f"{name} ({inside})".strip()
    return repr(value) if not name else f"{name}={value!r}"


def _size(arguments: Any) -> int:
    return sum(tensor.numel() for tensor in tensors_in(arguments)) if arguments is not None else 0
