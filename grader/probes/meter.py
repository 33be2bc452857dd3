"""What a call costs, counted and never timed: the same numbers on every machine.

PyTorch decomposes composite operators before a dispatch mode sees them, so einsum, matmul and linear arrive as mm, bmm
and addmm; fused CPU kernels do not and are charged by formula. The mode belongs to its thread: work on other threads,
in NumPy or in Python lists is not seen (the simulated device sees the two latter as copies to the host). Run it without
gradients unless their memory is meant to count.
"""

# torch has functions without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib
import inspect
import math
import weakref
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from grader.probes.frames import line_on_stack
from grader.probes.seal import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch._ops import OpOverload


@dataclass
class Cost:
    """The cost of a block; sizes in elements, memory in bytes."""

    calls: int = 0  # operators that are no views
    madds: int = 0  # multiply-adds of contractions
    elems: int = 0  # elements written, and read where an operator reduces
    biggest: int = 0  # size of the largest new tensor, of any dtype
    biggest_shape: tuple[int, ...] = ()
    biggest_op: str = ""
    biggest_line: int = 0
    live: int = 0  # bytes allocated in the block and not yet freed
    peak: int = 0  # and their maximum
    lines: Counter[int] = field(default_factory=Counter)  # operator calls for each line of the watched file

    @property
    def work(self) -> int:
        """Multiply-adds and elements written together: neither alone sees every way to do too much."""
        return self.madds + self.elems

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain data; `lines` as pairs (line, calls), most calls first."""
        return {
            "calls": self.calls,
            "madds": self.madds,
            "elems": self.elems,
            "biggest": self.biggest,
            "biggest_shape": list(self.biggest_shape),
            "biggest_op": self.biggest_op,
            "biggest_line": self.biggest_line,
            "peak": self.peak,
            "lines": [[line, calls] for line, calls in self.lines.most_common()],
        }


@contextlib.contextmanager
def measure(filename: str, *existing: Any) -> Iterator[Cost]:
    """Count the cost of the block; tensors and modules in `existing` are there already and cost nothing."""
    meter = _Meter(filename, *existing)
    _active.append(meter)
    try:
        with CostMeter():
            yield meter.cost
    finally:
        _active.pop()


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the least-squares slope of log(value) against log(size): 1 for linear growth, 2 for quadratic."""
    if len(sizes) != len(values) or len(set(sizes)) < 2:  # noqa: PLR2004 - a slope needs two points
        raise ValueError("a slope needs as many values as sizes, and two different sizes")
    logs = [math.log(size) for size in sizes], [math.log(max(1, value)) for value in values]
    means = [sum(each) / len(each) for each in logs]
    x, y = ([entry - mean for entry in each] for each, mean in zip(logs, means, strict=True))
    return sum(a * b for a, b in zip(x, y, strict=True)) / sum(a * a for a in x)


class CostMeter(TorchDispatchMode):
    """Shows every operator that runs to the meter. Whoever gets hold of a mode finds no counts in it."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # else the first operator imports PyTorch's compiler, which takes seconds
        return False

    def __torch_dispatch__(self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        return _active[-1].run(func, args, kwargs or {})


class _Meter:
    """Counts; see `measure`."""

    def __init__(self, filename: str, *existing: Any) -> None:
        self.cost = Cost()
        self._filename = filename
        self._storages: dict[int, int] = {}  # address of a storage -> its size when last seen
        self._held = [tensor.untyped_storage() for tensor in _tensors(existing)]  # so that no address is reused
        for storage in self._held:
            self._storages[storage._cdata] = storage.nbytes()  # noqa: SLF001 - its only identity

    def run(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operator and charge it."""
        operator = _operator(func)
        if operator.composite:  # inference mode hands composite operators over whole
            with CostMeter():
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        for tensor in operator.written(args, kwargs):
            self._notice(tensor)
        result = func(*args, **kwargs)
        if not operator.free:
            self._charge(operator, args, result)
        return result

    def _charge(self, operator: _Operator, args: tuple[Any, ...], result: Any) -> None:
        line = line_on_stack(self._filename, inspect.currentframe())
        cost, tensors = self.cost, [leaf for leaf in tree_iter(result) if isinstance(leaf, torch.Tensor)]
        cost.calls += 1
        if line:
            cost.lines[line] += 1
        if operator.madds is not None:
            cost.madds += operator.madds(args, tensors[0])
        cost.elems += _elements(operator.name, args, tensors)
        for tensor in tensors:
            if self._allocated(tensor) and tensor.numel() > cost.biggest:
                cost.biggest, cost.biggest_shape = tensor.numel(), tuple(tensor.shape)
                cost.biggest_op, cost.biggest_line = operator.name, line

    def _notice(self, tensor: torch.Tensor) -> None:
        """Remember a tensor that is about to be written: it is not new, unless the operator makes it grow."""
        storage = _storage(tensor)
        if storage is None or storage._cdata in self._storages:  # noqa: SLF001 - its only identity
            return
        if storage.nbytes():
            self._held.append(storage)
            self._storages[storage._cdata] = storage.nbytes()  # noqa: SLF001
        else:
            self._follow(storage)

    def _allocated(self, tensor: torch.Tensor) -> bool:
        """Tell whether the tensor's memory is new or has grown, and count it."""
        storage = _storage(tensor)
        if storage is None or not storage.nbytes():
            return False
        address, size = storage._cdata, storage.nbytes()  # noqa: SLF001 - its only identity
        before = self._storages.get(address)
        if before is not None and size <= before:
            return False
        if before is None:
            self._follow(storage)
        self._storages[address] = size
        self.cost.live += size - (before or 0)
        self.cost.peak = max(self.cost.peak, self.cost.live)
        return True

    def _follow(self, storage: torch.UntypedStorage) -> None:
        """Count memory of the block's own until it is freed."""
        address = storage._cdata  # noqa: SLF001 - its only identity
        self._storages[address] = 0
        weakref.finalize(storage, sealed(self._freed), address).atexit = False

    def _freed(self, address: int) -> None:
        self.cost.live -= self._storages.pop(address, 0)


_active: list[_Meter] = []


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for leaf in tree_iter(values):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif isinstance(leaf, nn.Module):
            yield from leaf.parameters()
            yield from leaf.buffers()


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # sparse and functorch tensors have none
        return None


def _attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> int:
    return math.prod(queries.shape[:-1]) * keys.shape[-2] * (queries.shape[-1] + values.shape[-1])


def _product(left: torch.Tensor, right: torch.Tensor) -> int:
    return left.numel() * right.shape[-1]


# multiply-adds, from an operator's arguments and its (first) result
_MADDS: dict[str, Callable[[Any, torch.Tensor], int]] = {
    "mm": lambda args, _: _product(args[0], args[1]),
    "bmm": lambda args, _: _product(args[0], args[1]),
    "addmm": lambda args, _: _product(args[1], args[2]),
    "addmm_": lambda args, _: _product(args[1], args[2]),
    "_addmm_activation": lambda args, _: _product(args[1], args[2]),
    "baddbmm": lambda args, _: _product(args[1], args[2]),
    "baddbmm_": lambda args, _: _product(args[1], args[2]),
    "addbmm": lambda args, _: _product(args[1], args[2]),
    "addbmm_": lambda args, _: _product(args[1], args[2]),
    "mv": lambda args, _: args[0].numel(),
    "addmv": lambda args, _: args[1].numel(),
    "addmv_": lambda args, _: args[1].numel(),
    "dot": lambda args, _: args[0].numel(),
    "vdot": lambda args, _: args[0].numel(),
    "addr": lambda _, out: out.numel(),
    "linear": lambda args, _: args[0].numel() * args[1].shape[0],
    "_trilinear": lambda args, _: args[0].numel() * args[1].numel(),
    "_cdist_forward": lambda args, out: out.numel() * args[0].shape[-1],
    "convolution": lambda args, out: out.numel() * math.prod(args[1].shape[1:]),
    "_native_multi_head_attention": lambda args, _: 4 * args[0].numel() * args[3] + _attention(*args[:3]),
    "_transformer_encoder_layer_fwd": lambda args, _: (
        4 * args[0].numel() * args[1] + _attention(args[0], args[0], args[0]) + 2 * args[0].numel() * args[14].shape[0]
    ),
}
_NO_WORK = frozenset({"detach", "_local_scalar_dense", "lift_fresh", "lift", "_unsafe_view", "_reshape_alias"})
# operators that read more than they write
_REDUCTIONS = frozenset(
    {"sum", "nansum", "mean", "prod", "amax", "amin", "max", "min", "aminmax", "argmax", "argmin", "any", "all"}
    | {"logsumexp", "_logsumexp", "norm", "linalg_vector_norm", "var", "var_mean", "std", "std_mean", "median"}
    | {"count_nonzero", "nonzero", "masked_select", "topk", "kthvalue", "equal", "trace", "unique_consecutive"}
    | {"_unique2", "bincount", "histc"}
)
# operators that write a part of their first argument: the place of the argument that says how much
_PARTIAL_WRITES = {
    "index_copy_": 3,
    "index_add_": 3,
    "scatter_": 2,
    "scatter_add_": 2,
    "scatter_reduce_": 2,
}


def _elements(name: str, args: tuple[Any, ...], results: list[torch.Tensor]) -> int:
    """Return how many elements an operator works through."""
    written = sum(result.numel() for result in results)
    if name in _REDUCTIONS and isinstance(args[0], torch.Tensor):
        return max(written, args[0].numel())
    if name in _PARTIAL_WRITES:
        part = args[_PARTIAL_WRITES[name]]
        return part.numel() if isinstance(part, torch.Tensor) else written
    if name in ("index_put_", "_index_put_impl_", "_unsafe_index_put_"):
        return min(written, _indexed(args[0], args[1]))
    return written


def _indexed(tensor: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> int:
    """Return how many elements `tensor[indices]` has; a mask has to be read in full."""
    given = [index for index in indices if index is not None]
    if any(index.dtype == torch.bool for index in given):
        return tensor.numel()
    taken = [length for length, index in zip(tensor.shape, indices, strict=False) if index is not None]
    shapes = (reversed(index.shape) for index in given)
    # Not torch.broadcast_shapes, which imports sympy.
    selected = math.prod(next((n for n in sizes if n != 1), 1) for sizes in zip_longest(*shapes, fillvalue=1))
    return tensor.numel() // max(1, math.prod(taken)) * selected


class _Operator:
    """What the meter needs to know of an operator."""

    def __init__(self, func: OpOverload) -> None:
        schema = func._schema  # noqa: SLF001 - the only way to an operator's schema
        self.name: str = schema.name.split("::")[-1]
        self.madds = _MADDS.get(self.name)
        if self.name.startswith("_scaled_dot_product_") and not self.name.endswith("_backward"):
            self.madds = lambda args, _: _attention(*args[:3])
        self.composite = self.madds is None and torch._C._dispatch_has_kernel_for_dispatch_key(  # noqa: SLF001
            func.name(), "CompositeImplicitAutograd"
        )
        views = [returned.alias_info for returned in schema.returns]
        self.free = self.name in _NO_WORK or any(info is not None and not info.is_write for info in views)
        self._writes = [
            (place, argument.name)
            for place, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]

    def written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
        """Yield the arguments that the operator writes."""
        for place, name in self._writes:
            value = args[place] if place < len(args) else kwargs.get(name)
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(tensor, torch.Tensor):
                    yield tensor


def work_of(func: OpOverload, args: tuple[Any, ...], result: Any) -> int:
    """Return how much work an operator took: multiply-adds and elements together."""
    operator = _operator(func)
    tensors = [leaf for leaf in tree_iter(result) if isinstance(leaf, torch.Tensor)]
    if operator.free or not tensors:
        return 0
    madds = operator.madds(args, tensors[0]) if operator.madds is not None else 0
    return madds + _elements(operator.name, args, tensors)


_operators: dict[OpOverload, _Operator] = {}


def _operator(func: OpOverload) -> _Operator:
    if func not in _operators:
        _operators[func] = _Operator(func)
    return _operators[func]
