"""What a sandbox does while it waits for its file: once, because the first time is slow.

Only code of our own runs, and nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import torch

from grader.probes import simdevice
from grader.sandbox import limits
from grader.sandbox.executor import Executor
from grader.transport.wire import Packer, dtype_name, load, save

_SOURCE: Final = """
import torch
from torch import nn

class Warm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        q = self.first(x).reshape(batch, length, 2, width // 2).transpose(1, 2)
        scores = q @ q.transpose(-2, -1) / 2.0
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).masked_fill(~mask.any(-1, keepdim=True), 0.0)
        return self.second((weights @ q).transpose(1, 2).reshape(batch, length, width)), weights
"""


_FORWARD: Final[tuple[dict[str, Any], ...]] = (
    {"trace": {"forbidden": [], "allowed": []}, "inputs": True},
    {"dtype": torch.bfloat16},
    {"dtype": torch.float16},
    {"dtype": torch.float64},
    {"cost": True},
)


def warm_up(*, device: bool) -> None:
    """Go once through what most gradings do; ``device``: on the simulated device as well."""
    ways: list[dict[str, Any]] = [*_FORWARD, {"dtype": torch.float64, "grad": True}]
    if device and not simdevice.available():
        ways.append({"device": simdevice.NAME})
    _go_through(ways)


def warm_up_for_forks() -> bool:
    """Do what processes that are forked from this one inherit, on the simulated device as well.

    Nothing is differentiated: that would settle once and for all which devices autograd knows. Returns whether this
    process still has a single thread.
    """
    torch.set_num_threads(1)
    simdevice.register()
    _go_through([*_FORWARD, {"device": simdevice.NAME}])
    return limits.threads() == 1


def _go_through(ways: Iterable[dict[str, Any]]) -> None:
    executor = Executor("warm-up")
    executor.load(_SOURCE)
    for way in ways:
        _go(executor, **way)


def _go(
    executor: Executor,
    *,
    dtype: torch.dtype = torch.float32,
    grad: bool = False,
    device: str = "cpu",
    trace: Any = None,
    inputs: bool = False,
    cost: bool = False,
) -> None:
    packer = Packer()
    x, mask = torch.linspace(-1, 1, 24).to(dtype).reshape(2, 3, 4), torch.ones(3, 3, dtype=torch.bool).tril()
    state = {"first.weight": torch.eye(4, dtype=dtype)}
    trees = {"args": packer.pack((x,)), "kwargs": packer.pack({"mask": mask})}
    built = {"args": packer.pack((4,)), "kwargs": packer.pack({}), "state": packer.pack(state)}
    common = {"dtype": dtype_name(dtype), "device": device, "seed": 1, "handle": 1, "train": False, "entry": "Warm"}
    tensors = load(save(packer.tensors))
    executor.build(common | built | {"wants_module": True}, tensors)
    asked = {"method": "", "grad": grad, "names": ["x", "mask"], "through": None, "key": 2}
    reply, out = executor.call(common | trees | asked | {"trace": trace, "inputs": inputs, "cost": cost}, tensors)
    assert reply["kind"] == "value"
    save(out)
