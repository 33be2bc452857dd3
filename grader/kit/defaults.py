"""Calls of a case whose caller has another default, other layouts of its inputs, or other gradients to ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.levels import PLAIN
from grader.judge.cases.modules import Module
from grader.judge.cases.variant import Variant
from grader.judge.exchange.results import Result
from grader.sandbox.arguments import INPUTS_ALONE
from grader.sandbox.levels import HALF, INPUTS, LOADED
from grader.transport.memory import LONGER, WIDER


@contextmanager
def in_variant(check: Check, variant: Variant) -> Iterator[None]:
    """Let the calls inside be made in another variant than the rest of the case."""
    before = check.variant
    check.variant = variant
    try:
        yield
    finally:
        check.variant = before


@contextmanager
def default_of_bfloat16(check: Check) -> Iterator[None]:
    """Let bfloat16 be PyTorch's default dtype in the calls inside, as for a model that is built in it."""
    with _at(check, "caller", HALF):
        yield


@contextmanager
def of_dtype(check: Check, dtype: torch.dtype) -> Iterator[None]:
    """Let what is handed over in the calls inside be of another dtype; they are not compared, and modules not cast.

    A case's own tensors are cast to the dtype of its run, so a cast in the case would be none.
    """
    with in_variant(check, dataclasses.replace(check.variant, dtype=dtype)):
        yield


def around_another_dtype(check: Check, module: Module, x: torch.Tensor) -> tuple[Result, Result]:
    """Return what a module makes of tokens before and after the same tokens in half precision; it is never cast."""
    first = module.run(x)
    with of_dtype(check, torch.bfloat16):
        module.run(x)
    return first, module.run(x)


@contextmanager
def before_a_default_device(check: Check) -> Iterator[None]:
    """Let the calls inside come from a caller who has not set another default device yet."""
    with in_variant(check, dataclasses.replace(check.variant, device="cpu")):
        yield


@contextmanager
def slices_of_wider_ones(check: Check) -> Iterator[None]:
    """Let each row of the inputs inside be a slice of a longer one, as keys and values of a joint projection are."""
    with _at(check, "layout", WIDER):
        yield


@contextmanager
def slices_of_longer_ones(check: Check) -> Iterator[None]:
    """Let each matrix of the inputs inside be a slice of a longer one, as the new tokens of a sequence are."""
    with _at(check, "layout", LONGER):
        yield


@contextmanager
def loaded_since(check: Check) -> Iterator[None]:
    """Let each call of a module inside come behind one with other weights, which are loaded anew in between."""
    with _at(check, "before", LOADED):
        yield


@contextmanager
def filled_since(check: Check) -> Iterator[None]:
    """Let each call inside come behind one in which the same input tensors held other numbers."""
    with _at(check, "before", INPUTS):
        yield


@contextmanager
def of_everything(check: Check) -> Iterator[None]:
    """Let gradients be asked of all inputs and weights in the calls inside, whatever the rest of the case asks of."""
    with _at(check, "asks", PLAIN):
        yield


@contextmanager
def of_inputs(check: Check) -> Iterator[None]:
    """Let all weights be frozen in the calls inside, so that gradients are asked of inputs alone."""
    with _at(check, "asks", INPUTS_ALONE):
        yield


@contextmanager
def no_graph(check: Check) -> Iterator[None]:
    """Let the calls inside record no gradients, whatever the rest of the case does; with gradients all are recorded."""
    variant = check.variant
    if variant.grad:
        yield
        return
    others = tuple(one for one in variant.levels if one[0] != "gradients")
    with in_variant(check, dataclasses.replace(variant, recording="no_grad", levels=others)):
        yield


@contextmanager
def _at(check: Check, factor: str, level: str) -> Iterator[None]:
    variant = check.variant
    others = tuple(one for one in variant.levels if one[0] != factor)
    layout = level if factor == "layout" else variant.layout
    with in_variant(check, dataclasses.replace(variant, layout=layout, levels=(*others, (factor, level)))):
        yield
