"""The one kernel of the device: it runs the CPU's kernel on the same memory.

Every operator without a composite implementation arrives here. Devices are checked, arguments on the device are
replaced by their CPU aliases, the operator runs, and its results go back: an in-place operator hands back the very
argument, a view shares its storage, anything else is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from grader.probes.simdevice.memory import is_sim, on_device, on_host, view_of
from grader.probes.simdevice.rule import check_devices, may_wait, note_waiting
from grader.probes.simdevice.traffic import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._ops import OpOverload

_COPIES = frozenset({"_copy_from", "_copy_from_and_resize", "copy_"})
_HOST = torch.device("cpu")


class _Signature:
    """What the schema of an operator says about aliasing."""

    def __init__(self, op: OpOverload) -> None:
        schema = op._schema  # noqa: SLF001 - the only way to an operator's schema
        self.base: str = schema.name.split("::")[-1]
        self.names: list[str] = [argument.name for argument in schema.arguments]
        infos = [argument.alias_info for argument in schema.arguments]
        self.writes = [i for i, info in enumerate(infos) if info and info.is_write]
        self.outs = [i for i in self.writes if schema.arguments[i].is_out]
        self.tensor_slots = [i for i, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"]
        owner = {label: i for i, info in enumerate(infos) if info for label in info.before_set}
        # for each returned value: None, or (the argument that it aliases, whether it is that argument)
        self.returns: list[tuple[int, bool] | None] = []
        for returned in schema.returns:
            info = returned.alias_info
            aliased = [owner[label] for label in (info.before_set if info else ()) if label in owner]
            self.returns.append((aliased[0], bool(info and info.is_write)) if aliased else None)
        # whether it only makes a new tensor: writes nothing, hands back nothing, waits for nothing
        known = self.base not in _COPIES and not may_wait(self.base)
        self.makes_one_tensor = known and not self.writes and self.returns == [None]


_signatures: dict[OpOverload, _Signature] = {}


class _Call:
    """One operator call: its arguments, and the CPU aliases of those on the device."""

    def __init__(self, signature: _Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.signature, self.args, self.kwargs = signature, args, kwargs
        self.aliases: dict[int, torch.Tensor] = {}  # id of a tensor on the device -> its CPU alias
        self.strangers: list[tuple[str, torch.Tensor]] = []  # tensors of other devices, with their arguments' names
        if signature.outs or signature.base == "resize_":
            self._prepare_resizable()
        self.host_args = [self._down(name, value) for name, value in zip(signature.names, args, strict=False)]
        self.host_kwargs = {name: self._down(name, value) for name, value in kwargs.items()}

    def argument(self, index: int) -> Any:
        """Return the argument at a place of the schema, however it was passed."""
        return self.args[index] if index < len(self.args) else self.kwargs.get(self.signature.names[index])

    def _prepare_resizable(self) -> None:
        """Give what the kernel may resize a CPU tensor that owns its memory: an alias cannot grow."""
        if self.signature.base == "resize_":
            self.aliases[id(self.args[0])] = on_host(self.args[0]).clone()
        for index in self.signature.outs:
            out = self.argument(index)
            in_place = sum(value is out for value in (*self.args, *self.kwargs.values())) > 1
            if isinstance(out, torch.Tensor) and (out.numel() == 0 or out.dim() == 0) and not in_place:
                # Some losses put all their terms into a result without axes, then the sum.
                self.aliases[id(out)] = torch.empty(out.shape if out.dim() else (0,), dtype=out.dtype)

    def _down(self, name: str, value: Any) -> Any:
        """Replace tensors on the device by their CPU aliases."""
        if isinstance(value, torch.Tensor):
            if not is_sim(value):
                self.strangers.append((name, value))
                return value
            alias = self.aliases.get(id(value))
            if alias is None:
                alias = self.aliases[id(value)] = on_host(value)
            return alias
        if isinstance(value, (list, tuple)) and not (value and type(value[0]) is int):  # else sizes
            return [self._down(name, item) for item in value]
        return value

    def run(self, op: OpOverload) -> Any:
        """Run the operator on the CPU aliases."""
        kwargs = self.host_kwargs
        if kwargs.get("device") is not None:
            kwargs["device"] = _HOST
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        args = self.host_args
        # a Python number in a tensor's place arrives unwrapped; the packet finds the overload for numbers
        numbers = any(i < len(args) and isinstance(args[i], (int, float, complex)) for i in self.signature.tensor_slots)
        run: Callable[..., Any] = op.overloadpacket if numbers else op
        return run(*args, **kwargs)

    def follow_writes(self) -> None:
        """Repeat on the device what the kernel did to the geometry of an alias (resize_, out=, transpose_)."""
        for index in self.signature.writes:
            written = self.argument(index)
            for tensor in written if isinstance(written, (list, tuple)) else (written,):
                alias = self.aliases.get(id(tensor))
                if alias is None:
                    continue
                moved = alias.data_ptr() != tensor.data_ptr()
                if moved and index in self.signature.outs and alias.shape == tensor.shape:
                    on_host(tensor).copy_(alias)  # it may be a part of another tensor
                elif moved or alias.shape != tensor.shape or alias.stride() != tensor.stride():
                    with torch.no_grad():
                        tensor.data = on_device(alias)

    def up(self, value: Any, alias_of: tuple[int, bool] | None) -> Any:
        """Put a result of the CPU's kernel onto the device."""
        if isinstance(value, (list, tuple)):
            return [self.up(item, alias_of) for item in value]
        if not isinstance(value, torch.Tensor):
            return value
        owner = self.argument(alias_of[0]) if alias_of else None
        start = self.aliases.get(id(owner))
        if start is not None and alias_of and alias_of[1]:
            return owner
        if owner is None or start is None or value.dtype != owner.dtype:  # view_as_real and its like change the dtype
            return on_device(value)
        return self._view(owner, start, value)

    def _view(self, owner: torch.Tensor, start: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Return the view of `owner` that corresponds to a view of its alias."""
        offset = (value.data_ptr() - start.data_ptr()) // value.element_size() if value.numel() else 0
        view = view_of(owner, value.shape, value.stride(), offset)
        if view.is_conj() != value.is_conj():
            torch._C._set_conj(view, value.is_conj())  # noqa: SLF001 - no public setter
        return view


def kernel(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Run an operator whose tensors are on the device."""
    signature = _signatures.get(op)
    if signature is None:
        signature = _signatures[op] = _Signature(op)
    if signature.makes_one_tensor and not kwargs:
        host = _on_host_alone(signature, args)
        if host is not None:
            made = op(*host)
            return on_device(made) if isinstance(made, torch.Tensor) else made
    if signature.base in _COPIES:
        return _copy(signature.base, args)
    call = _Call(signature, args, kwargs)
    if call.strangers and call.aliases:
        check_devices(signature.base, call.strangers)
    note_waiting(signature.base, args)
    result = call.run(op)
    if signature.writes:
        call.follow_writes()
    if len(signature.returns) == 1:
        return call.up(result, signature.returns[0])
    return tuple(call.up(*pair) for pair in zip(result, signature.returns, strict=True)) if signature.returns else None


def _on_host_alone(signature: _Signature, args: tuple[Any, ...]) -> list[Any] | None:
    """Return the CPU aliases of arguments that are all tensors on the device, numbers and sizes; None for others."""
    host: list[Any] = []
    for index, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            if not is_sim(value):
                return None
            host.append(on_host(value))
        elif isinstance(value, (list, tuple)):
            if not all(type(item) is int or type(item) is bool for item in value):
                return None
            host.append(value)
        elif isinstance(value, (int, float, complex)) and index in signature.tensor_slots:
            return None
        else:
            host.append(value)
    return host


def _copy(base: str, args: tuple[Any, ...]) -> torch.Tensor:
    source, target = (args[1], args[0]) if base == "copy_" else (args[0], args[1])
    if is_sim(source) != is_sim(target) and not _is_factory():
        note("d2h" if is_sim(source) else "h2d", base, source.shape)
    on_host(target).copy_(on_host(source))
    return target  # type: ignore[no-any-return]


def _is_factory() -> bool:
    """Tell whether torch.tensor(values, device=...) is at work: it builds on the CPU, switching Python keys off."""
    return torch._C._dispatch_tls_is_dispatch_key_excluded(torch._C.DispatchKey.Python)  # noqa: SLF001 - no public way
