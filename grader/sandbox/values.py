"""What an answer returned, seen without trusting it: exact types only, and a plain phrase for everything else."""

from __future__ import annotations

import types
from typing import Any, Final

import torch

from grader.transport.wire import MAX_DEPTH, MAX_PAYLOAD, MAX_TENSORS, Packer, dtype_name

_Tensor = torch.Tensor
_Parameter = torch.nn.Parameter
_SENDABLE: Final = frozenset(
    (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.complex64),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
    )
)
MOST_TEXT: Final = 16_000
"""So many characters of text are in a result at most: each takes up to 12 bytes of a frame's header."""

# What an answer could patch, taken before it is loaded.
_type, _isinstance, _len, _str, _repr = type, isinstance, len, str, repr
_detach, _clone, _is_conj, _is_neg = _Tensor.detach, _Tensor.clone, _Tensor.is_conj, _Tensor.is_neg
_resolve_conj, _resolve_neg, _to = _Tensor.resolve_conj, _Tensor.resolve_neg, _Tensor.to
_tuple_items, _list_items, _dict_items = tuple.__iter__, list.__iter__, dict.items
_shape, _device, _layout, _dtype, _requires_grad = (
    getattr(_Tensor, name).__get__ for name in ("shape", "device", "layout", "dtype", "requires_grad")
)


class TooLarge(Exception):
    """The result is far larger than any expected one."""


def is_tensor(value: object) -> bool:
    """Whether the value is a tensor of exactly the types that torch itself returns."""
    return _type(value) is _Tensor or _type(value) is _Parameter


def describe(value: object) -> str:
    """Name a value in a few words: ``a NumPy array``, ``a generator``, ``a tensor subclass (Fake)``."""
    kind = _type(value)
    name = kind.__name__ if _type(kind.__name__) is str else "?"
    if _isinstance(value, _Tensor):
        return f"a subclass of torch.Tensor ({name[:60]})"
    if kind.__module__ == "numpy":
        return "a NumPy array" if name == "ndarray" else f"a NumPy {name[:40]}"
    if _isinstance(value, types.GeneratorType):
        return "a generator"
    if _isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return "a function"
    if _isinstance(value, torch.nn.Module):
        return f"a module ({name[:60]})"
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name[:60]}"


class Snapshot:
    """Collects the tensors of a result as independent CPU copies, and the tree that points to them."""

    def __init__(self, *, to_cpu: Any = None, packer: Packer | None = None, most: int = MAX_TENSORS) -> None:
        """Begin with no tensors, in a ``packer`` of its own unless one is given; ``most``: so many may come."""
        self._most = most
        self._packer = packer if packer is not None else Packer()
        self.live: list[torch.Tensor] = []
        self._to_cpu = to_cpu
        self._bytes = self._count = self._characters = 0

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """What goes into the payload."""
        return self._packer.tensors

    def tree(self, value: Any, depth: int = 0) -> Any:
        """Return the JSON tree of a value. Raises TooLarge for more than the wire carries."""
        kind = _type(value)
        if value is None or kind in (bool, int, float):
            return value
        if kind is str:
            return self.text(value)
        if is_tensor(value):
            return self.tensor(value)
        if depth < MAX_DEPTH:
            if _isinstance(value, tuple):
                return {"p": [self.tree(v, depth + 1) for v in _tuple_items(value)]}
            if kind is list:
                return {"l": [self.tree(v, depth + 1) for v in _list_items(value)]}
            if _isinstance(value, dict):
                return {"d": [[_str(k)[:80], self.tree(v, depth + 1)] for k, v in _dict_items(value)]}
        return {"x": describe(value)}

    def text(self, value: str) -> str:
        """Return a text whole, since all of it is compared."""
        self._characters += _len(value)
        if self._characters > MOST_TEXT:
            raise TooLarge(f"the result is too large: {_len(value)} characters of text")
        return value

    def tensor(self, value: torch.Tensor) -> dict[str, Any]:
        """Return the node of one tensor: where its bytes are, and the device and graph that bytes do not tell."""
        device = _str(_device(value))
        layout, dtype = _layout(value), _dtype(value)
        if layout is not torch.strided or dtype not in _SENDABLE:
            return {"x": f"a tensor of {_str(layout).removeprefix('torch.')} layout and dtype {dtype_name(dtype)}"}
        if device == "meta":
            return {"x": "a tensor on the meta device, which holds no values"}
        plain = _detach(value)
        size = 1
        for length in _shape(plain):
            size *= length
        self._bytes += size * plain.element_size()
        self._count += 1
        if self._bytes > MAX_PAYLOAD or self._count > self._most:
            raise TooLarge(f"the result is too large: shape {tuple(_shape(plain))}")
        if device != "cpu":
            plain = self._to_cpu(plain) if self._to_cpu is not None else _to(plain, "cpu")
        if _is_conj(plain):
            plain = _resolve_conj(plain)
        if _is_neg(plain):
            plain = _resolve_neg(plain)
        node = self._packer.put(_clone(plain, memory_format=torch.contiguous_format))
        self.live.append(value)
        return node | {"device": device, "grad": bool(_requires_grad(value))}


# As which floating-point numbers are compared bit for bit: NaN differs from itself, 0 equals -0.
_WORDS: Final = {torch.float64: torch.int64, torch.float32: torch.int32}
_WORDS.update(dict.fromkeys((torch.float16, torch.bfloat16), torch.int16))
_equal, _view = torch.equal, torch.Tensor.view  # before an answer could patch them


def same_bits(now: torch.Tensor, before: torch.Tensor) -> bool:
    """Whether two tensors hold the same bits."""
    now = now.detach()
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    words = _WORDS.get(now.dtype)
    return _equal(now, before) if words is None else _equal(_view(now, words), _view(before, words))
