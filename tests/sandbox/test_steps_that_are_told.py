"""The steps of a call that are told: of a long one how it begins and how it ends, and all that ran."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from grader.sandbox.executor import Executor
from grader.sandbox.named import MOST_SENT, MOST_VALUES, recorded
from grader.transport.wire import MAX_TENSORS, Packer, Unpacker
from tests.sandbox.test_executor import BASE

SOURCE = """\
def f(x, times):
    for _ in range(times):
        x = x + 1.0
        x = x * 1.0
    return x
"""


def told(times: int) -> tuple[list[Any], list[Any], Unpacker]:
    """Return the steps and the statements of a call with twice so many steps, and who finds their tensors."""
    executor, packer = Executor("a.py"), Packer()
    executor.load(SOURCE)
    trees = {"args": packer.pack((torch.zeros(3), times)), "kwargs": packer.pack({})}
    header = BASE | trees | {"key": 1, "device": "cpu", "grad": False, "inputs": False}
    reply, tensors = recorded(executor, header, packer.tensors)
    tree = Unpacker(tensors)
    steps, passed = (json.loads(bytes(tree.unpack(reply[name]).tolist())) for name in ("steps", "passed"))
    return steps, passed, tree


@pytest.mark.parametrize("times", [3, MAX_TENSORS // 2 + 22, MOST_VALUES])
def test_a_call_of_many_steps_is_told(times: int) -> None:
    """More tensors than a result has travel, since they are bounded here; the last of them are among them."""
    steps, passed, tree = told(times)
    values = [tree.unpack(step[-1]) for step in steps if step[1] in ("add", "mul")]
    assert len(values) == 2 * times
    assert torch.equal(values[-1], torch.full((3,), float(times)))
    assert min(2 * times, MOST_VALUES - 1) <= sum(value is not None for value in values) <= MOST_VALUES
    assert sum(one[1] == 3 for one in passed) == times


def test_a_call_of_too_many_steps_is_told_as_far_as_it_goes() -> None:
    """It is a trace, too, and not nothing."""
    steps, _passed, tree = told(MOST_SENT + 50)
    assert len(steps) == MOST_SENT
    assert any(tree.unpack(step[-1]) is not None for step in steps)
