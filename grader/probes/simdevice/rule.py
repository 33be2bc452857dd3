"""Which tensors may meet in one operator: the rule of a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from grader.probes.simdevice.memory import NAME
from grader.probes.simdevice.traffic import note

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDEXING = frozenset(
    {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
    | {"_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"}
)
# operators that refuse even a 0-dimensional CPU tensor, which all others take for a number
_NO_CPU_NUMBER = frozenset(
    {"cat", "stack", "embedding", "index_select", "gather", "scatter", "scatter_", "scatter_add", "scatter_add_"}
    | {"index_add", "index_add_", "index_copy", "index_copy_", "take", "equal"}
)
_DATA_DEPENDENT = frozenset(
    {"nonzero", "masked_select", "unique_consecutive", "unique_dim", "_unique2", "repeat_interleave", "bincount"}
)
_READS = frozenset({"_local_scalar_dense", "equal", "is_nonzero"})


class DeviceMixError(RuntimeError):
    """Tensors on different devices met in one operator."""


def check_devices(op: str, strangers: Sequence[tuple[str, torch.Tensor]]) -> None:
    """Raise unless what meets the device's tensors are numbers or index tensors that CUDA takes from the CPU."""
    for name, tensor in strangers:
        if tensor.is_cpu and tensor.dim() == 0 and op not in _NO_CPU_NUMBER:
            continue
        if tensor.is_cpu and op in _INDEXING and name == "indices":
            note("h2d", op, tensor.shape)
            continue
        raise DeviceMixError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{NAME}:0 and {tensor.device}! (argument {name!r} of {op}, shape {tuple(tensor.shape)}, "
            f"is on {tensor.device})"
        )


def may_wait(op: str) -> bool:
    """Whether the host may have to wait for the device at this operator."""
    return op in _READS or op in _DATA_DEPENDENT or op in _INDEXING


def note_waiting(op: str, args: Sequence[Any]) -> None:
    """Log the operators at which the host waits for the device."""
    if op in _READS:
        note("item", op)
    elif op in _DATA_DEPENDENT or (op in _INDEXING and any(_is_bool(index) for index in args[1])):
        note("sync", op, args[0].shape)


def _is_bool(index: torch.Tensor | None) -> bool:
    return index is not None and index.dtype == torch.bool
