"""How judge and sandbox talk: frames of a JSON header and safetensors bytes. No pickle, in either direction.

A frame is ``b"KATA"``, the length of the header (u32), the length of the payload (u64), the header, the payload.
Values travel as a JSON tree in which a tensor is a node that points into the payload. Whatever arrives is checked
before it is used: a frame or a tree that breaks a rule raises :class:`WireError` and nothing else.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from safetensors.torch import load as _load_tensors

from grader.transport.callables import Step
from grader.transport.memory import OWN, PACKED, held

MARK: Final = b"KATA"
PREFIX: Final = struct.Struct("<4sIQ")
MAX_HEADER: Final = 1 << 18
MAX_PAYLOAD: Final = 64 << 20
MAX_TENSOR_HEADER: Final = 1 << 16
MAX_TENSORS: Final = 256
MAX_DIMENSIONS: Final = 16
MAX_DEPTH: Final = 8

Tree = Any
"""Nested tuples, lists and dicts of tensors, numbers, strings, dtypes, devices, models of a step and None."""


class WireError(Exception):
    """A message that breaks the protocol."""


class Foreign:
    """Stands for a value that does not travel: it only has a description, such as ``"a NumPy array"``."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return f"<{self.what}>"


# --- frames -----------------------------------------------------------------------------------------------------------


def frame(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """Return the bytes of one message."""
    return framed(json.dumps(header).encode(), payload)


def framed(text: bytes, payload: bytes) -> bytes:
    """Return the bytes of one message whose header is JSON already."""
    return PREFIX.pack(MARK, len(text), len(payload)) + text + payload


def frame_length(buffer: bytes | bytearray) -> int | None:
    """Return how long the frame at the start of the buffer is, or None while that cannot be told.

    Raises WireError for anything that is not the start of a frame or announces more than is allowed.
    """
    if not MARK.startswith(bytes(buffer[:4])):
        raise WireError("the reply does not start with the mark of a frame")
    if len(buffer) < PREFIX.size:
        return None
    _, header, payload = PREFIX.unpack_from(buffer)
    if header > MAX_HEADER or payload > MAX_PAYLOAD:
        raise WireError(f"the reply announces {(header + payload) >> 20} MiB, more than is allowed")
    return int(PREFIX.size + header + payload)


def parse_frame(buffer: bytes) -> tuple[dict[str, Any], bytes]:
    """Split one whole frame into header and payload."""
    _, length, _ = PREFIX.unpack_from(buffer)
    try:
        header = json.loads(buffer[PREFIX.size : PREFIX.size + length])
    except (ValueError, RecursionError) as error:
        raise WireError("the header of the reply is not JSON") from error
    if type(header) is not dict:
        raise WireError("the header of the reply is not an object")
    return header, buffer[PREFIX.size + length :]


# --- tensors ----------------------------------------------------------------------------------------------------------


def save(tensors: dict[str, torch.Tensor]) -> bytes:
    """Tensors (contiguous, on the CPU, without a graph) to the bytes of a safetensors file; no tensors are no bytes.

    Written here, since the library takes three times as long for a few short tensors, and half of a small message is
    that. The format: https://github.com/huggingface/safetensors#format.
    """
    if not tensors:
        return b""
    header, parts, end = {}, list[bytes](), 0
    for name, tensor in tensors.items():
        parts.append(_numpy(tensor.reshape(-1).view(torch.uint8)).tobytes())
        begin, end = end, end + len(parts[-1])
        header[name] = {"dtype": _CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join((struct.pack("<Q", len(text)), text, *parts))


def load(payload: bytes) -> dict[str, torch.Tensor]:
    """Bytes to tensors, after checks of our own: safetensors itself accepts headers of 100 MB."""
    if not payload:
        return {}
    if len(payload) < 8:
        raise WireError("the tensors of the reply are cut short")
    (length,) = struct.unpack_from("<Q", payload)
    if length > MAX_TENSOR_HEADER or 8 + length > len(payload):
        raise WireError("the header of the tensors is too large")
    try:
        header = json.loads(payload[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise WireError("the header of the tensors is not JSON") from error
    if type(header) is not dict or len(header) > MAX_TENSORS:
        raise WireError("too many tensors")
    for entry in header.values():
        shape = entry.get("shape") if type(entry) is dict else None
        if type(shape) is list and len(shape) > MAX_DIMENSIONS:
            raise WireError("a tensor with too many dimensions")
    try:
        return dict(_load_tensors(payload))
    except Exception as error:  # KeyError, SafetensorError, RuntimeError...: hostile bytes
        raise WireError(f"the tensors of the reply cannot be read: {type(error).__name__}") from error


# --- trees ------------------------------------------------------------------------------------------------------------

_DTYPES: Final = {
    str(d).removeprefix("torch."): d
    for d in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.complex64),
    )
}


_CODES: Final = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.bool: "BOOL"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8"},
    torch.complex64: "C64",
}
"""What safetensors calls them."""
_numpy = torch.Tensor.numpy  # an answer may replace it


def dtype_name(dtype: torch.dtype) -> str:
    """``torch.float32`` is ``float32`` to a reader."""
    return str(dtype).removeprefix("torch.")


def dtype_named(name: str) -> torch.dtype:
    """Return the dtype of that name."""
    try:
        return _DTYPES[name]
    except KeyError:
        raise WireError(f"unknown dtype {name!r}") from None


class DeviceName(str):
    """A device by name, also one that only the sandbox knows."""

    __slots__ = ()

    def packed(self) -> dict[str, Any]:
        """Return the node of the device."""
        return {"device": str(self)}


class Packer:
    """Turns trees into JSON nodes and collects their tensors: laid end to end, one heap a dtype.

    Safetensors is quicker with a few long ones than with many short ones. The same tensor twice travels once and stays
    one object.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[torch.Tensor]] = {}
        self._lengths: dict[str, int] = {}
        self._seen: dict[int, tuple[torch.Tensor, dict[str, Any]]] = {}
        self.count = self.bytes = 0

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The heaps, for :func:`save`: copies, whatever happens to the tensors afterwards."""
        return {heap: _concatenate(parts) for heap, parts in self._parts.items()}

    def put(self, tensor: torch.Tensor) -> dict[str, Any]:
        """Add a CPU tensor; returns the node that finds it again."""
        heap, length = dtype_name(tensor.dtype), tensor.numel()
        start = self._lengths.get(heap, 0)
        self._parts.setdefault(heap, []).append(tensor.reshape(-1))
        self._lengths[heap] = start + length
        self.count += 1
        self.bytes += length * tensor.element_size()
        return {"t": heap, "at": start, "shape": list(tensor.shape)}

    def pack(self, value: Tree) -> Any:
        """Return the JSON node of a value that we made ourselves."""
        if hasattr(value, "packed"):  # it stands for something that is there already
            return value.packed()
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (tuple, list)):
            return {"p" if isinstance(value, tuple) else "l": [self.pack(v) for v in value]}
        if isinstance(value, dict):
            return {"d": [[key, self.pack(v)] for key, v in value.items()]}
        if isinstance(value, torch.dtype):
            return {"dtype": dtype_name(value)}
        if isinstance(value, Step):
            return {"step": self._tensor(value.table), "dtypes": list(map(dtype_name, value.dtypes))}
        raise TypeError(f"cannot send {type(value).__name__}")

    def _tensor(self, tensor: torch.Tensor) -> dict[str, Any]:
        if id(tensor) in self._seen:
            return self._seen[id(tensor)][1]
        base, layout = tensor.detach(), {}
        if not base.is_contiguous():
            if 0 in base.stride() and base.numel():  # an expanded tensor arrives as an expanded tensor
                layout["expand"] = list(base.shape)
                for axis, stride in enumerate(base.stride()):
                    base = base.narrow(axis, 0, 1) if stride == 0 else base
            strides = base.stride()
            order = sorted(range(base.dim()), key=lambda axis: -strides[axis])
            if order != list(range(base.dim())):  # a transposed one as a transposed one
                layout["order"] = order
                base = base.permute(order)
        node = self.put(base) | layout
        self._seen[id(tensor)] = (tensor, node)  # keeps the tensor alive, so that no other takes its id
        return node


_concatenate = torch.cat  # an answer may replace torch.cat


class Unpacker:
    """The way back; the same tensor met twice is one object."""

    def __init__(
        self,
        tensors: dict[str, torch.Tensor],
        returned: Callable[[int, list[int | str]], Tree] | None = None,
        *,
        dense: bool = False,
        layout: str = OWN,
    ) -> None:
        """Read these heaps.

        ``returned`` finds what was returned earlier; ``dense``: nothing arrives expanded; ``layout``: how tensors lie
        in memory, see :mod:`grader.transport.memory`.
        """
        self._tensors = tensors
        self._returned = returned
        self._dense, self._layout = dense, layout
        self._packed: dict[str, torch.Tensor] = {}
        self._made: dict[tuple[Any, ...], torch.Tensor] = {}
        self._left = sum(tensor.numel() for tensor in tensors.values())  # each has a place of its own

    def unpack(self, node: Any, depth: int = 0, *, shared: bool = False) -> Tree:
        """Return the value of a node. Raises WireError for a malformed one.

        ``shared``: whether its tensors may be views of the payload, for who only reads them.
        """
        if node is None or type(node) in (bool, int, float, str):
            return node
        if type(node) is not dict or depth > MAX_DEPTH:
            raise WireError("a malformed value")
        if "t" in node:
            return self._tensor(node, shared)
        if "p" in node or "l" in node:
            items = node.get("p", node.get("l"))
            values = [self.unpack(item, depth + 1, shared=shared) for item in _listed(items)]
            return tuple(values) if "p" in node else values
        if "d" in node:
            pairs = [_listed(pair) for pair in _listed(node["d"])]
            if any(len(pair) != 2 or type(pair[0]) is not str for pair in pairs):
                raise WireError("a malformed dict")
            return {key: self.unpack(value, depth + 1, shared=shared) for key, value in pairs}
        return self._named(node)

    def _named(self, node: dict[str, Any]) -> Tree:
        if type(node.get("dtype")) is str:
            return dtype_named(node["dtype"])
        if type(node.get("device")) is str:
            try:
                return torch.device(node["device"])
            except RuntimeError:
                raise WireError("an unknown device") from None
        if type(node.get("x")) is str:
            return Foreign(node["x"][:300])
        if self._returned is not None and "returned" in node:
            return self._returned(node["returned"], node["path"])
        if self._returned is not None and "step" in node:  # to the sandbox only
            return Step(self._tensor(node["step"]), tuple(map(dtype_named, node["dtypes"])))
        raise WireError("a value of an unknown kind")

    def _tensor(self, node: dict[str, Any], shared: bool = False) -> torch.Tensor:
        heap, start, sizes = node["t"], node.get("at"), _sizes(node.get("shape"))
        if type(heap) is not str or heap not in self._tensors or type(start) is not int:
            raise WireError("a value points to a tensor that is not there")
        order, expand = (tuple(_sizes(node[name])) if name in node else None for name in ("order", "expand"))
        key = (heap, start, *sizes, order, expand)
        if key not in self._made:
            length = math.prod(sizes)
            self._left -= length
            if self._left < 0 or (expand is not None and math.prod(expand) > MAX_PAYLOAD):
                raise WireError("the values are larger than what was sent")
            try:
                if shared:
                    tensor = self._tensors[heap].narrow(0, start, length).view(sizes)
                else:
                    flat = self._memory(heap).narrow(0, start, length)
                    tensor = held(flat, sizes, self._layout, as_sent=bool(order or expand))
                if order is not None:
                    tensor = tensor.permute(sorted(range(len(order)), key=order.__getitem__))
                tensor = tensor if expand is None else tensor.expand(expand)
                self._made[key] = tensor.contiguous() if self._dense and expand is not None else tensor
            except (RuntimeError, TypeError, IndexError, ValueError, OverflowError) as error:
                raise WireError("a value points outside of what was sent") from error
        return self._made[key]

    def _memory(self, heap: str) -> torch.Tensor:
        """Return where the numbers of tensors are: in what was sent, or in one memory of which all are views."""
        if self._layout != PACKED:
            return self._tensors[heap]
        if heap not in self._packed:
            self._packed[heap] = self._tensors[heap].clone()
        return self._packed[heap]


def _sizes(value: Any) -> list[int]:
    sizes = _listed(value)
    if len(sizes) > MAX_DIMENSIONS or any(type(size) is not int or size < 0 for size in sizes):
        raise WireError("a tensor of an impossible shape")
    return sizes


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise WireError("a malformed list")
    return value


def strings(value: Any, most: int = 64) -> list[str]:
    """Check a list of strings in a header that came from the sandbox."""
    items = _listed(value)
    if len(items) > most or any(type(item) is not str for item in items):
        raise WireError("a malformed list of names")
    return items


def tensors_in(tree: Tree) -> Iterable[torch.Tensor]:
    """Yield the tensors of a tree, left to right."""
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from tensors_in(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from tensors_in(item)
