"""Registration: once per process, and not to be undone."""

# ruff: noqa: SLF001 - PyTorch's entry for a backend in Python is private
# torch.library has no annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.library import Library, fallthrough_kernel
from torch.utils import backend_registration

from grader.probes.seal import sealed
from grader.probes.simdevice import special
from grader.probes.simdevice.kernel import kernel
from grader.probes.simdevice.memory import NAME, is_sim, to_cpu, to_sim
from grader.probes.simdevice.traffic import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch._ops import OpOverload


_from_host = sealed(to_sim)
_from_host.__module__, _from_host.__qualname__ = "torch", f"{NAME}.from_host"


class _DeviceModule:
    """What becomes `torch.sim`: the functions that PyTorch asks a device's module for."""

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Do nothing: random numbers come from the CPU's generator."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16, torch.float32]

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        del device
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        del device
        torch.set_rng_state(state)

    from_host = staticmethod(_from_host)
    """What a pickled tensor is made of again: found by this name, as it is in torch."""

    def synchronize(self, device: Any = None) -> None:
        """Do nothing: every operator has finished when it returns."""


# Some operators have a generic kernel that would come first, call the device several times, and complain of mixed
# devices without naming the caller's argument. These are the ones that answers use; any other works all the same.
_DIRECT = """
    add.Tensor add_.Tensor sub.Tensor sub_.Tensor mul.Tensor mul_.Tensor div.Tensor div_.Tensor maximum minimum
    pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar exp exp_ exp2 log sqrt rsqrt reciprocal neg sin cos tanh sigmoid
    elu gelu silu
    eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor
    ge.Scalar bitwise_and.Tensor bitwise_or.Tensor bitwise_not isposinf isneginf
    mm bmm addmm baddbmm cat tril triu gather scatter.src scatter.value scatter_add index_copy index_add cumsum
    sum.dim_IntList mean.dim amax amin max.dim min.dim all any argmax all.dim any.dim
    _softmax _softmax_backward_data _log_softmax _log_softmax_backward_data logsumexp tanh_backward sigmoid_backward
    native_layer_norm native_layer_norm_backward embedding masked_fill.Scalar masked_fill.Tensor
    zeros ones full arange arange.start arange.start_step clone
"""


def _direct_operators() -> Iterator[OpOverload]:
    for name in _DIRECT.split():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        keys = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd")
        if any(torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key) for key in keys):
            yield op


_libraries: list[Library] = []  # a registration lives as long as its library


def install_kernels() -> None:
    """Tell the dispatcher what to do for the device, which stays unknown until :func:`register`.

    That alone changes nothing for anybody. It visits every operator there is, so a server does it before it forks.
    """
    if _libraries:
        return
    every, aten = Library("_", "IMPL"), Library("aten", "IMPL")
    _libraries.extend((every, aten))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of every kernel that is replaced: that is the purpose
        every.fallback(kernel, "PrivateUse1")
        every.fallback(fallthrough_kernel, "AutocastPrivateUse1")
        for key in ("Conjugate", "Negative"):  # else clone() of a conjugate recurses until the process dies
            aten.impl("_copy_from", fallthrough_kernel, key)
        aten.impl("convolution_overrideable", special.convolution, "PrivateUse1")
        aten.impl("convolution_backward_overrideable", special.convolution_backward, "PrivateUse1")
        for op in _direct_operators():
            aten.impl(op, functools.partial(kernel, op), "PrivateUse1")
        for name in special.VIEWS:
            aten.impl(name, special.view(name), "PrivateUse1", with_keyset=True)
        for key in ("PrivateUse1", "AutogradPrivateUse1"):
            aten.impl("_pack_padded_sequence", special.packed, key)
            aten.impl("_thnn_fused_gru_cell", special.gru_cell, key)
            aten.impl("_thnn_fused_lstm_cell", special.lstm_cell, key)


_registered: list[torch.device] = []


def register() -> torch.device:
    """Make the device known to this process and return it; later calls only return it."""
    if not _registered:
        install_kernels()
        backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=_DeviceModule())
        _keep_copies_off_storages()
        _registered.append(torch.device(f"{NAME}:0"))
    return _registered[0]


def is_registered() -> bool:
    """Whether this process knows the device, or the one that it was forked from did."""
    return bool(_registered)


def _keep_copies_off_storages() -> None:
    """Replace the two methods of a tensor that allocate a storage on its device, which ends the process here."""
    deepcopy, reduce_ex = torch.Tensor.__deepcopy__, torch.Tensor.__reduce_ex__

    def __deepcopy__(self: torch.Tensor, memo: dict[int, Any]) -> Any:  # noqa: N807 - it takes that method's place
        if type(self) is not torch.Tensor or not is_sim(self) or id(self) in memo:
            return deepcopy(self, memo)
        memo[id(self)] = to_sim(self)
        return memo[id(self)]

    def __reduce_ex__(self: torch.Tensor, protocol: Any) -> Any:  # noqa: N807 - as above
        if type(self) is not torch.Tensor or not is_sim(self):
            return reduce_ex(self, protocol)
        note("d2h", "__reduce_ex__", self.shape)
        return back, (to_cpu(self).requires_grad_(self.requires_grad),)

    back = _DeviceModule.from_host
    torch.Tensor.__deepcopy__ = sealed(__deepcopy__)  # type: ignore[method-assign]
    torch.Tensor.__reduce_ex__ = sealed(__reduce_ex__)  # type: ignore[method-assign]


def probe() -> str:
    """Register and try what everything rests on: arithmetic, the device rule, gradients, views."""
    device = register()
    left = to_sim(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).requires_grad_()
    product = left @ left.T
    if product.device != device or to_cpu(product).tolist() != [[5.0, 11.0], [11.0, 25.0]]:
        return "a product on the device came out wrong"
    product[0].sum().backward()
    if left.grad is None or to_cpu(left.grad).tolist() != [[5.0, 8.0], [1.0, 2.0]]:
        return "a gradient on the device came out wrong"
    try:
        left + torch.ones(2, 2)
    except RuntimeError:
        return ""
    return "a tensor on the device and one on the CPU could be added"
