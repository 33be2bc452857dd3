"""The steps of a call that failed: what the answer made of its inputs, line by line, for whoever looks for the mistake.

Asked for after a failure alone. What is sent is bounded in number and bytes.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, Final

import torch

from grader.probes.steps import SOURCE, Recorder, Step
from grader.probes.ways import Ways
from grader.probes.work import Work
from grader.sandbox import observe
from grader.sandbox.executor import Executor
from grader.sandbox.values import Snapshot

STEPS: Final = "steps"
"""The name of the operation, and the kind of its reply."""
WORK: Final = "work"
"""The same, for how much work each line asks for."""
WAYS: Final = "ways"
"""The same, for which lines run one after the other."""
DEEPEST: Final = 20
MOST_VALUES: Final = 400
MOST_SENT: Final = 1200
MOST_BYTES: Final = 24 << 20
MOST_WRITTEN: Final = 4 << 20
PLAIN: Final = {"op": "call", "trace": None, "cost": False, "inputs": False, "grad": False}
"""How the call is made once more: nothing is watched but its steps."""

Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]


def recorded(executor: Executor, header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """Make a call once more and tell its steps; one that raises has taken some, too.

    ``recorded`` in the header are fields of the call that differ from ``PLAIN``.
    """
    recorder = Recorder(executor.filename)
    snapshot = Snapshot(to_cpu=observe.to_cpu, most=MOST_VALUES + 2)
    reply: Header = {"kind": STEPS, "raised": False}
    heap: Tensors = {}
    try:
        executor.call(header | PLAIN | header.get("recorded", {}) | {"steps": recorder}, tensors)
    except Exception:  # noqa: BLE001 - that it raises is known already
        reply["raised"] = True
    reply["returned"] = recorder.returned
    reply["steps"] = snapshot.tensor(as_json(described(recorder.steps, snapshot)))
    passed = [[one.frame, one.line, one.caller, one.made] for one in recorder.lines.passed]
    reply["passed"] = snapshot.tensor(as_json(passed))
    heap = snapshot.tensors
    return reply, heap


def worked(executor: Executor, header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """Make a call once more and tell how much work its lines ask for."""
    work = Work(executor.filename)
    with contextlib.suppress(Exception):
        executor.call(header | PLAIN | {"steps": work}, tensors)
    most = work.counted.most_common(MOST_SENT)
    return {"kind": WORK, "counted": [[list(lines[-DEEPEST:]), size, count] for (lines, size), count in most]}, {}


def gone(executor: Executor, header: Header, tensors: Tensors) -> tuple[Header, Tensors]:
    """Make a call once more, gradients and all, and tell which lines ran one after the other."""
    ways = Ways(executor.filename)
    with contextlib.suppress(Exception):
        executor.call(header | PLAIN | {"grad": header["grad"], "steps": ways}, tensors)
    return {"kind": WAYS, "taken": sorted(map(list, ways.taken))}, {}


def as_json(told: list[Any]) -> torch.Tensor:
    """Return what is told as bytes of JSON: there may be more of it than a header holds."""
    text = json.dumps(told).encode()
    text = text if len(text) <= MOST_WRITTEN else b"[]"
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)


def described(steps: list[Step], snapshot: Snapshot) -> list[list[Any]]:
    """Return the steps as lists; numbers of those that another line or nobody reads on."""
    steps = steps[:MOST_SENT]
    wanted = set(telling(steps))
    told: list[list[Any]] = []
    for number, step in enumerate(steps):
        value = snapshot.tensor(step.value) if number in wanted and step.value is not None else None
        shape = list(step.shape)
        facts = [step.line, step.operation[:40], step.reads, step.dtype, shape, step.name[:80], step.cuts, step.writes]
        facts += [step.device, step.at]
        told.append([*facts, value])
    return told


def telling(steps: list[Step]) -> list[int]:
    """Return the numbers of the steps whose tensors tell something: what a line hands on, and what was there before."""
    here, elsewhere = set[int](), set[int]()
    for step in steps:
        for number in step.reads:
            (here if steps[number].group == step.group else elsewhere).add(number)
    last = {step.group: number for number, step in enumerate(steps)}
    ends = {n for n, step in enumerate(steps) if n not in here or last[step.group] == n or step.operation == SOURCE}
    some = sorted(ends | elsewhere)
    if len(some) > MOST_VALUES:  # how it begins, and how it ends
        some = [*some[: MOST_VALUES // 2], *some[-MOST_VALUES // 2 :]]
    room = MOST_BYTES
    found: list[int] = []
    for number in some:
        value = steps[number].value
        if value is not None and value.numel() * value.element_size() <= room:
            room -= value.numel() * value.element_size()
            found.append(number)
    return found


AGAIN: Final = {STEPS: recorded, WORK: worked, WAYS: gone}
"""How a call is made once more, by the name of the operation."""
