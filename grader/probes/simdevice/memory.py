"""CPU memory under two names: the same bytes as a tensor on the CPU and as one on the device."""

# ruff: noqa: SLF001 - a second device without a compiler rests on private functions; `available` probes them

from __future__ import annotations

import ctypes
from typing import Any

import torch

NAME = "sim"

# the device types of DLPack; PyTorch maps kDLExtDev to PrivateUse1
_DLPACK_CPU, _DLPACK_EXTENSION = 1, 12

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _DLTensorHead(ctypes.Structure):
    """The first fields of a DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
    )


def is_sim(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is on the simulated device."""
    return not tensor.is_cpu and tensor.device.type == NAME


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor itself, or the CPU's view of a tensor on the device: no copy."""
    return _retag(tensor, _DLPACK_CPU) if is_sim(tensor) else tensor


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """Return the device's view of a CPU tensor: no copy."""
    return _retag(tensor, _DLPACK_EXTENSION)


def view_of(base: torch.Tensor, size: Any, stride: Any, offset: int) -> torch.Tensor:
    """Return a view that shares the storage of `base`, `offset` elements behind its first one."""
    if torch.is_inference_mode_enabled() and not base.is_inference():
        # there a view of an ordinary tensor is an ordinary tensor, which PyTorch's own kernels know
        with torch.inference_mode(mode=False), torch.no_grad():
            return view_of(base, size, stride, offset)
    view: torch.Tensor = torch.ops.inductor._reinterpret_tensor.default(base, size, stride, offset)
    return view


def to_sim(tensor: torch.Tensor) -> torch.Tensor:
    """Return a detached copy on the device, a leaf with the same `requires_grad`; not logged."""
    return on_device(on_host(tensor.detach()).clone()).requires_grad_(tensor.requires_grad)


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """Return a detached copy on the CPU; not logged."""
    return on_host(tensor.detach()).clone()


def _retag(tensor: torch.Tensor, device_type: int) -> torch.Tensor:
    capsule = torch._C._to_dlpack(tensor)
    head = _DLTensorHead.from_address(_capsule_pointer(capsule, b"dltensor"))
    head.device_type, head.device_id = device_type, 0
    twin: torch.Tensor = torch._C._from_dlpack(capsule)
    if tensor.is_conj():  # two flags that DLPack does not carry
        torch._C._set_conj(twin, True)
    if tensor.is_neg():
        torch._C._set_neg(twin, True)
    return twin
