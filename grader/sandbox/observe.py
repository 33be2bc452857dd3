"""What is watched while the answer runs: where its tensors live, what it calls, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

Seen = dict[str, Any]


def place(value: Any, device: str) -> Any:
    """Return arguments (new tensors) or a module on the device of the variant."""
    if device == "cpu":
        return value
    from grader.probes import simdevice  # noqa: PLC0415

    if isinstance(value, torch.nn.Module):
        return simdevice.module_to_sim(value) if device == "sim" else value.to(device)
    if isinstance(value, torch.Tensor):
        return simdevice.to_sim(value) if device == "sim" else value.to(device)
    if isinstance(value, (tuple, list)):
        return type(value)(place(item, device) for item in value)
    if isinstance(value, dict):
        return {key: place(item, device) for key, item in value.items()}
    return value


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """Bring a result home without counting it as the answer's own traffic."""
    if tensor.device.type == "sim":
        from grader.probes import simdevice  # noqa: PLC0415

        return simdevice.to_cpu(tensor)
    return tensor.cpu()


@contextmanager
def watching(header: dict[str, Any], filename: str, existing: Any) -> Iterator[Callable[[], Seen]]:
    """Switch on the probes that the call asks for; the function that it yields tells what they saw."""
    reports: list[Callable[[], Seen]] = []
    with ExitStack() as stack:
        if header["trace"] is not None:
            from grader.probes import tracer  # noqa: PLC0415

            calls = stack.enter_context(tracer.trace(filename, **header["trace"]))
            reports.append(lambda: {"forbidden": [[call.name, call.line] for call in calls][:20]})
        yield lambda: {key: value for report in reports for key, value in report().items()}
