"""What is watched while the answer runs: where its tensors live, what it calls, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Final

import torch

from grader.probes import meter, simdevice, tracer
from grader.transport.callables import Step, steps_in

Seen = dict[str, Any]
SIMULATED: Final = simdevice.NAME
DEVICE_BY_DEFAULT: Final = "device"
"""A caller's level at which what an answer makes for itself, and may read, is on the device: no traffic is judged."""
MOST_FINDINGS: Final = 20
MOST_ASKED: Final = 400

INFERENCE: Final = "inference_mode"
_WITHOUT_GRADIENTS: Final = {"no_grad": torch.no_grad, INFERENCE: torch.inference_mode}
_spies: list[bool] = []


def ready(device: str) -> None:
    """Make the device of a call known to this process."""
    if device == SIMULATED:
        simdevice.register()


def rebuilt(like: tuple[Any, ...] | list[Any], items: Iterable[Any]) -> tuple[Any, ...] | list[Any]:
    """Return these items as a list or a tuple, a named one where ``like`` is.

    What else an answer has derived from them has a constructor of its own, which is not called.
    """
    if isinstance(like, list):
        return list(items)
    return tuple.__new__(type(like), items) if hasattr(like, "_fields") else tuple(items)


def place(value: Any, device: str) -> Any:
    """Return arguments (new tensors) or a module on the device of the variant; not logged as the answer's traffic.

    Tensors lie in their memory there as they did here, and in one where they did.
    """
    if device == "cpu":
        return value
    if isinstance(value, torch.nn.Module):
        return simdevice.module_to_sim(value) if device == SIMULATED else value.to(device)
    move = _Move(device)

    def moved(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            return move(item)
        if type(item) is list or isinstance(item, tuple):  # of a class of its own it is the answer's module
            return rebuilt(item, map(moved, item))
        if type(item) is dict:
            return {key: moved(entry) for key, entry in item.items()}
        if isinstance(item, Step):
            return item.placed(lambda logits: place(logits, device), to_cpu)
        return item

    return moved(value)


class _Move:
    """Brings the tensors of one call to a device: an object once, a memory once."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._done: dict[int, torch.Tensor] = {}
        self._memories: dict[int, torch.Tensor] = {}

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor there; one that is there, since it came from an earlier call, as it is."""
        if tensor.device.type == self._device.partition(":")[0]:
            return tensor
        if id(tensor) not in self._done:
            self._done[id(tensor)] = self._lying_alike(tensor)
        return self._done[id(tensor)]

    def _lying_alike(self, tensor: torch.Tensor) -> torch.Tensor:
        memory = tensor.untyped_storage()
        if memory.nbytes() == tensor.nbytes and tensor.is_contiguous():
            return self._sent(tensor)
        where = memory.data_ptr()
        if where not in self._memories:
            self._memories[where] = self._sent(tensor.as_strided((memory.nbytes() // tensor.itemsize,), (1,), 0))
        return self._memories[where].as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    def _sent(self, tensor: torch.Tensor) -> torch.Tensor:
        return simdevice.to_sim(tensor) if self._device == SIMULATED else tensor.to(self._device)


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """Bring a result home; not logged as the answer's traffic."""
    return simdevice.to_cpu(tensor) if tensor.device.type == SIMULATED else tensor.cpu()


def recording(header: dict[str, Any]) -> AbstractContextManager[None]:
    """Enter the gradient mode of a call."""
    name: str = header.get("recording", "")
    return _WITHOUT_GRADIENTS[name]() if name else nullcontext()


@contextmanager
def watching(header: dict[str, Any], filename: str, existing: Any) -> Iterator[Callable[[], Seen]]:
    """Switch on the probes that the call asks for; the function that it yields tells what they saw."""
    reports: list[Callable[[], Seen]] = []
    steps = list(steps_in(existing))
    with ExitStack() as stack:
        stack.enter_context(recording(header))
        if header.get("steps") is not None:
            stack.enter_context(header["steps"])
        if steps:
            reports.append(lambda: {"asked": [shape for step in steps for shape in step.asked][:MOST_ASKED]})
        if header["device"] == SIMULATED and (header.get("levels") or {}).get("caller") != DEVICE_BY_DEFAULT:
            events = stack.enter_context(simdevice.watch(filename))
            most = max((step.table.size(-1) - 1 for step in steps), default=1) or 1
            reports.append(lambda: _traffic(events, most))
        if header["trace"] is not None:
            forbidden = stack.enter_context(tracing(header, filename))
            reports.append(lambda: {"forbidden": forbidden()})
        if header["cost"]:
            stack.enter_context(torch.no_grad())
            cost = stack.enter_context(meter.measure(filename, *existing))
            reports.append(lambda: {"cost": cost.as_dict() | {"lines": cost.as_dict()["lines"][:MOST_FINDINGS]}})
        yield lambda: {key: value for report in reports for key, value in report().items()}


@contextmanager
def tracing(header: dict[str, Any], filename: str) -> Iterator[Callable[[], list[list[Any]]]]:
    """Trace calls where the header says so; the function that it yields tells which of them are out of bounds."""
    if header["trace"] is None:
        yield list
        return
    if not _spies:
        tracer.install_dispatch_spies()
        _spies.append(True)
    with tracer.trace(filename, **header["trace"]) as calls:
        yield lambda: [[call.name, call.line] for call in calls][:MOST_FINDINGS]


def _traffic(events: list[simdevice.Event], most: int) -> Seen:
    failures, remarks = simdevice.judge_events(events, most)
    return {
        "traffic": [[finding.message, finding.line] for finding in failures][:MOST_FINDINGS],
        "remarks": [[finding.message, finding.line] for finding in remarks][:MOST_FINDINGS],
    }
