"""The steps of one call: every tensor that an operation makes, the line that asked for it, and what it was made of.

Two modes and a trace function look on: one mode sees the operations below autograd and with them what is made of what,
the other the functions above it, where it shows who leaves the graph; the trace function sees names. What is kept is
bounded in number and bytes; what comes after that goes unseen.
"""

# torch has functions without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from grader.probes.frames import line_on_stack
from grader.probes.lines import Lines

if TYPE_CHECKING:
    from types import FrameType

MOST_STEPS: Final = 1500
MOST_BYTES: Final = 64 << 20
LARGEST: Final = 1 << 19
"""Larger tensors are known by name and line only: numbers of theirs are not kept."""
MOST_ESCAPED: Final = 20
DEEPEST: Final = 3
"""So deep are tensors looked for in lists."""
SOURCE: Final = "source"
"""In the place of an operation: a tensor that was there before."""
RESULT: Final = "result"
"""In the place of an operation: a tensor as it is when it is handed back."""
FROM_DATA: Final = "lift_fresh"
"""The operation that makes a tensor of Python's numbers."""
ESCAPES: Final = frozenset(("item", "tolist", "numpy", "__bool__", "__int__", "__float__", "__index__", "__array__"))
"""Functions whose result is no tensor any more."""
FORMED: Final = frozenset(
    (
        *("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"),
        *("new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"),
    )
)
"""Functions that take the form of a tensor and none of its numbers: no graph goes through them."""

_UNSEEN: Final = "func != nullptr"
"""What PyTorch says where it makes a tensor of Python's numbers on a device of Python's while a mode looks on."""
_DATA: Final = torch.ops.aten.lift_fresh.default
_BY_ITSELF: Final = {"__getitem__": torch.ops.aten.index.Tensor, "__setitem__": torch.ops.aten.index_put_.default}
"""What is noted of such a function, which then runs without anybody looking on; of any other that it made a tensor."""

# What an answer could patch, taken before it is loaded.
_settrace, _gettrace, _clone, _detach = sys.settrace, sys.gettrace, torch.Tensor.clone, torch.Tensor.detach
_Tensor, _isinstance = torch.Tensor, isinstance


@dataclass(slots=True)
class Step:
    """One operation that made a tensor, or wrote into one."""

    line: int
    operation: str
    reads: list[int]
    """The numbers of the steps whose tensors went in."""
    group: int
    """Steps one after the other of one line have the same."""
    dtype: str
    shape: tuple[int, ...]
    value: torch.Tensor | None = None
    name: str = ""
    cuts: bool = False
    """Whether something went in that carries a graph, and what came out carries none."""
    writes: int = -1
    """The step whose tensor it writes into, -1 where it makes a new one."""
    device: str = "cpu"
    at: int = -1
    """The number of the statement that ran, among those passed."""


@dataclass(frozen=True, slots=True)
class Call:
    """The operation of a step, to be done once more: in its arguments stand numbers of steps for tensors."""

    function: Any
    args: Any
    kwargs: Any
    place: int
    """Which of its results the step is."""


@dataclass(frozen=True, slots=True)
class Stands:
    """Stands for the tensor of a step among arguments."""

    number: int


@dataclass(slots=True)
class _Names:
    """What the names of one running function stood for when somebody looked last."""

    bound: dict[str, tuple[int, int]] = field(default_factory=dict)


class Recorder:
    """Records the steps that the file of a name makes while it is entered."""

    def __init__(self, filename: str, *, calls: bool = False) -> None:
        """``calls``: whether to keep the operations themselves, so that they can be done once more."""
        self.filename = filename
        self.steps: list[Step] = []
        self.calls: dict[int, Call] | None = {} if calls else None
        self._made: dict[int, int] = {}
        self._alive: list[Any] = []
        self._written: dict[int, list[int]] = {}
        self._escaped: list[int] = []
        self._escaped_from_graph = False
        self.returned = 0
        """The line at which the file handed back a result last."""
        self.lines = Lines(self._number_of)
        self._frames: dict[int, _Names] = {}
        self._bytes = 0
        self._place = (0, 0)
        self._copies = False
        """Whether it is we who do an operation: outside of the modes they see what we do."""
        self._group = 0
        self._modes: list[Any] = []
        self._before: Any = None

    # --- looking on

    def __enter__(self) -> Self:
        self._before = _gettrace()
        self._modes = [_Functions(self), _Operations(self)]
        for mode in self._modes:
            mode.__enter__()
        _settrace(self._on_frame)
        return self

    def __exit__(self, *error: object) -> None:
        _settrace(self._before)
        for mode in reversed(self._modes):
            mode.__exit__(*error)

    def _on_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        if frame.f_code.co_filename != self.filename:
            return None
        names = self._frames[id(frame)] = _Names()
        for name, value in list(frame.f_locals.items()):  # what it is called with has a name already, the caller's
            if _isinstance(value, _Tensor):
                names.bound[name] = _identity(value)
        if not frame.f_code.co_name.startswith("<"):  # what a comprehension does is part of its statement
            self.lines.enter(frame)
        return self._on_line

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Take note of names that stand for another tensor than before."""
        names = self._frames.setdefault(id(frame), _Names())
        for name, value in list(frame.f_locals.items()):
            if _isinstance(value, _Tensor):
                now = _identity(value)
                if names.bound.get(name) != now:
                    names.bound[name] = now
                    self._bind(value, name)
        if event == "line":
            self.lines.line(frame)
        if event == "return":
            self.lines.leave(frame, argument)
            self._frames.pop(id(frame), None)
            self.returned = frame.f_lineno
            self._hand_back(argument)
        return self._on_line

    def _hand_back(self, result: Any) -> None:
        """Take note of tensors that were written into, through views perhaps, and are handed back as they are now."""
        for tensor in _tensors(result):
            number = self._made.get(id(tensor))
            if number is not None and len(self.steps) < MOST_STEPS:
                reads = self._reads(tensor)
                if len(reads) > 1:
                    self._add(0, RESULT, reads, tensor)

    def _bind(self, tensor: torch.Tensor, name: str) -> None:
        number = self._made.get(id(tensor))
        if number is not None and not self.steps[number].name:
            self.steps[number].name = name

    # --- what the modes see

    def on_operation(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Take note of an operation that has run."""
        operation = str(function).removeprefix("aten.").partition(".")[0]
        given, made = _tensors((args, kwargs)), _tensors(result)
        if len(self.steps) >= MOST_STEPS or self._copies:
            return
        frame = sys._getframe(1)  # noqa: SLF001 - whose line it is
        line = line_on_stack(self.filename, frame)
        reads = {number for tensor in given for number in self._reads(tensor)}
        if operation == FROM_DATA:
            reads.update(self._escaped[-MOST_ESCAPED:])
        where = line, _owner(self.filename, frame)
        if where != self._place:
            self._place, self._group = where, self._group + 1
        for place, tensor in enumerate(made):
            before = self._made.get(id(tensor), -1) if any(tensor is one for one in given) else -1
            number = self._add(line, operation, sorted(reads), tensor)
            self.steps[number].writes = before
            self.steps[number].cuts = operation == FROM_DATA and self._escaped_from_graph
            if self.calls is not None:
                self.calls[number] = Call(function, self._standing(args), self._standing(kwargs), place)
            if before >= 0:
                self._written.setdefault(_memory(tensor), []).append(number)

    def on_function(self, name: str, given: list[torch.Tensor], made: list[torch.Tensor]) -> None:
        """Take note of what left the graph, and of what became Python's."""
        if self._copies:
            return
        if name in ESCAPES:
            self._escaped += [number for tensor in given for number in self._reads(tensor)]
            self._escaped_from_graph |= any(tensor.requires_grad for tensor in given)
        if name not in FORMED and any(tensor.requires_grad for tensor in given):
            for tensor in made:
                number = self._made.get(id(tensor))
                if number is not None and tensor.is_floating_point() and not tensor.requires_grad:
                    self.steps[number].cuts = True

    def _reads(self, tensor: torch.Tensor) -> list[int]:
        number = self._made.get(id(tensor))
        if number is None:
            number = self._add(0, SOURCE, [], tensor)
        return [number, *(later for later in self._written.get(_memory(tensor), ()) if later > number)]

    def _number_of(self, tensor: torch.Tensor) -> int | None:
        return self._reads(tensor)[0] if id(tensor) in self._made or len(self.steps) < MOST_STEPS else None

    def _standing(self, value: Any) -> Any:
        if _isinstance(value, _Tensor):
            return Stands(self._reads(value)[0])
        if _isinstance(value, (tuple, list)):
            return type(value)(map(self._standing, value))
        return {name: self._standing(item) for name, item in value.items()} if _isinstance(value, dict) else value

    def _add(self, line: int, operation: str, reads: list[int], tensor: torch.Tensor) -> int:
        value = None
        if tensor.numel() <= LARGEST and self._bytes < MOST_BYTES:
            self._copies = True
            value = _clone(_detach(tensor))
            self._copies = False
            self._bytes += value.numel() * value.element_size()
        number = len(self.steps)
        dtype = str(tensor.dtype).removeprefix("torch.")
        group = self._group if operation != SOURCE else -1
        step = Step(line, operation, reads, group, dtype, tuple(tensor.shape), value, device=tensor.device.type)
        step.at = self.lines.now if line else -1
        self.steps.append(step)
        self._made[id(tensor)] = number
        self._alive.append(tensor)  # so that no other takes its id
        return number


def _identity(tensor: torch.Tensor) -> tuple[int, int]:
    """Return what changes where a name stands for another tensor, or for one that was written into."""
    return id(tensor), 0 if tensor.is_inference() else tensor._version  # noqa: SLF001 - as autograd counts


def _memory(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - what tells two storages apart


def _owner(filename: str, frame: FrameType | None) -> int:
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return id(frame)


def _tensors(value: Any, depth: int = 0) -> list[torch.Tensor]:
    if _isinstance(value, _Tensor):
        return [value]
    if depth < DEEPEST and _isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in _tensors(item, depth + 1)]
    if depth < DEEPEST and _isinstance(value, dict):
        return [tensor for item in value.values() for tensor in _tensors(item, depth + 1)]
    return []


class _Operations(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # else the first operator imports PyTorch's compiler, which takes seconds
        return False

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        result = func(*args, **(kwargs or {}))
        self._recorder.on_operation(func, args, kwargs or {}, result)
        return result


class _Functions(TorchFunctionMode):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = getattr(func, "__name__", "")
        try:
            result = func(*args, **(kwargs or {}))
        except RuntimeError as error:
            if _UNSEEN not in str(error):
                raise
            with _disable_current_modes():
                result = func(*args, **(kwargs or {}))
            wrote = args[0] if name == "__setitem__" else result
            self._recorder.on_operation(_BY_ITSELF.get(name, _DATA), args, kwargs or {}, wrote)
        self._recorder.on_function(name, _tensors((args, kwargs or {})), _tensors(result))
        return result
