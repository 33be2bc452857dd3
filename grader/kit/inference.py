"""Calls of a case that are in inference mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module
from grader.kit.defaults import in_variant
from grader.sandbox.levels import CONTINUED, FIRST, INFERENCE, MADE_INSIDE
from grader.transport.wire import tensors_in


@contextmanager
def inference_mode(check: Check, *, continued: bool = False) -> Iterator[None]:
    """Let the calls inside be in inference mode, each behind the same call outside of it. With gradients none is.

    What they take is made in inference mode as well, as by whoever does all of his work there.
    What an answer keeps for its next calls it has made outside then, where a gradient may meet it. A call of an
    object that is no module, or one that gets a result back, may leave something behind: it stays one without
    gradients, unless the case says that it is ``continued`` in here, by calls of the same mode alone. The simulated
    device cannot do all that PyTorch can in inference mode: calls there stay outside.
    """
    variant = check.variant
    if variant.grad or variant.device != "cpu":
        yield
        return
    levels = (*variant.levels, MADE_INSIDE, *([CONTINUED] if continued else []))
    inside = dataclasses.replace(variant, recording=INFERENCE, levels=levels)
    with in_variant(check, inside):
        yield


@contextmanager
def first_in_inference_mode(check: Check) -> Iterator[None]:
    """Let the calls inside be in inference mode, also with gradients in all others, and nothing come before them.

    For what is asked for there first and then by somebody who trains: it must be made anew for him.
    """
    variant = check.variant
    levels = (*(one for one in variant.levels if one[0] != "before"), MADE_INSIDE, FIRST)
    with in_variant(check, dataclasses.replace(variant, recording=INFERENCE, grad=False, levels=levels)):
        yield


def drops_in_inference_mode(check: Check, module: Module, *inputs: Any) -> bool:
    """Tell whether two calls of a module in training, in inference mode, have other first results: each drops anew."""
    module.train()
    with inference_mode(check):
        first = module.run(*inputs)
        check.roll()
        second = module.run(*inputs)
    one, two = (next(iter(tensors_in(result.got)), None) for result in (first, second))
    return one is not None and two is not None and not torch.equal(one, two)
