"""A second device, `sim:0`, for a machine without one: real values, and PyTorch's own complaints.

A tensor on it is an ordinary `torch.Tensor` over CPU memory that was handed out under another device's name. Every
operator that reaches it lands in one kernel (`kernel.py`), which checks devices as CUDA does and then runs the CPU's
kernel. Autograd, vmap, modules and optimisers are PyTorch's own. Whatever crosses to the host and back is logged with
its line (`traffic.py`).

Needs torch 2.10 and private functions of it, so `available` tries them out first. Registering cannot be undone: only a
sandbox process does it. Not covered: a second index (`sim:1`), `torch.Generator(device=...)`, sparse and quantised
tensors, flex attention.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch
from torch import nn

from grader.probes.simdevice.backend import install_kernels, is_registered, probe, register
from grader.probes.simdevice.memory import NAME, is_sim, to_cpu, to_sim
from grader.probes.simdevice.rule import DeviceMixError
from grader.probes.simdevice.traffic import Event, Finding, judge_events, muted, watch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NAME",
    "DeviceMixError",
    "Event",
    "Finding",
    "available",
    "install_kernels",
    "is_registered",
    "is_sim",
    "judge_events",
    "make_known",
    "module_to_sim",
    "register",
    "to_cpu",
    "to_sim",
    "watch",
]


def available() -> str:
    """Return "" where the device works in this process, else the reason why not; registers it, never raises."""
    try:
        with muted():
            return probe()
    except Exception as error:  # noqa: BLE001 - a future torch may fail in any way, and that is the answer
        return f"torch {torch.__version__} does not allow it: {type(error).__name__}: {error}"


def make_known() -> None:
    """Register the device where PyTorch allows it; whether it works is what :func:`available` tells. Never raises."""
    with contextlib.suppress(Exception):  # a future torch may fail in any way
        register()


def module_to_sim(module: nn.Module) -> nn.Module:
    """Do what `.to()` does on a GPU: parameters and buffers move, plain attributes stay; not logged.

    A parameter stays the same object, so that tied ones stay tied and a list that holds it too follows. PyTorch does so
    for devices of its own, and elsewhere where it can swap a tensor's content (not while a graph still holds it).
    """
    device = register()
    with muted():
        if torch.__future__.get_swap_module_params_on_conversion():
            return module.to(device)
        torch.__future__.set_swap_module_params_on_conversion(value=True)
        try:
            return _moved(module)
        except RuntimeError:
            torch.__future__.set_swap_module_params_on_conversion(value=False)
            return module.to(device)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(value=False)


def _moved(module: nn.Module) -> nn.Module:
    """Do what `.to()` does, without its detour over an empty tensor, where nothing is unusual."""
    own_way = any(type(part).to is not nn.Module.to for part in module.modules())
    if own_way or any(map(nn.parameter.is_lazy, module.parameters())):
        return module.to(register())
    move_all: Callable[..., nn.Module] = module._apply  # noqa: SLF001 - as `.to()` does
    return move_all(lambda tensor: tensor if is_sim(tensor) else to_sim(tensor))
