"""Operators that need something else than the kernel.

PyTorch sends some to an accelerator in a form that no CPU kernel knows; and views only read sizes and strides, so that
the CPU's own kernels take tensors of any device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.library import get_kernel

from grader.probes.simdevice.kernel import kernel
from grader.probes.simdevice.memory import is_sim
from grader.probes.simdevice.rule import DeviceMixError
from grader.probes.simdevice.traffic import excuse

if TYPE_CHECKING:
    from collections.abc import Callable


VIEWS = ("as_strided", "view", "_reshape_alias")


def view(name: str) -> Callable[..., Any]:
    """Return the CPU's kernel for one of ``VIEWS``, for registering with the set of keys."""
    of_cpu = get_kernel(f"aten::{name}", "CPU")

    def run(keys: Any, *args: Any, **kwargs: Any) -> Any:
        return of_cpu.call_boxed(keys, *args, **kwargs)

    return run


def convolution(*args: Any) -> Any:
    """Run a convolution: on PrivateUse1 it comes as `convolution_overrideable`."""
    return kernel(torch.ops.aten.convolution.default, *args)


def convolution_backward(grad: Tensor, inputs: Tensor, weight: Tensor, *rest: Any) -> Any:
    """Run its backward pass; the CPU's operator also wants the size of the bias."""
    *geometry, groups, mask = rest
    transposed = geometry[3]
    bias = [weight.shape[1] * groups if transposed else weight.shape[0]]
    return kernel(torch.ops.aten.convolution_backward.default, grad, inputs, weight, bias, *geometry, groups, mask)


def packed(data: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """Pack a padded batch: lengths and sizes of the steps are on the CPU alone, wherever the batch is.

    The copy of the lengths is asked for, so it is excused. Raises DeviceMixError where they are on the device.
    """
    if is_sim(lengths):
        raise DeviceMixError("'lengths' argument should be a 1D CPU int64 tensor, but got 1D device Long tensor")
    excuse("d2h", lengths.shape)
    if batch_first:
        data = data.transpose(0, 1)
    sizes = (lengths > torch.arange(int(lengths[0]))[:, None]).sum(dim=1)  # how many sequences have each step
    return torch.cat([data[step, :size] for step, size in enumerate(sizes.tolist())]), sizes


def gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hidden: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Run the cell of nn.GRU from its gates `(B, 3 * hidden)`; differentiable, so that no workspace is needed."""
    reset_i, update_i, new_i = _with_bias(input_gates, input_bias).chunk(3, 1)
    reset_h, update_h, new_h = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset = (reset_h + reset_i).sigmoid()
    update = (update_h + update_i).sigmoid()
    new = (new_i + new_h * reset).tanh()
    return (hidden - new) * update + new, hidden.new_empty(0)


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cell: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run the cell of nn.LSTM from its gates `(B, 4 * hidden)`."""
    gates = _with_bias(hidden_gates, hidden_bias) + _with_bias(input_gates, input_bias)
    keep_in, forget, candidate, out = gates.chunk(4, 1)
    next_cell = forget.sigmoid() * cell + keep_in.sigmoid() * candidate.tanh()
    return out.sigmoid() * next_cell.tanh(), next_cell, cell.new_empty(0)


def _with_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias
