"""Runs the battery on the CPU and on another device and prints what agrees.

    python agreement.py [--device sim|cuda] [--table]

JSON by default: for honest snippets the disagreement ("" for none), for wrong ones how they show and where, and
the facts of `battery/facts.py` with the assertion that failed.
"""

from __future__ import annotations

import argparse
import json
import traceback
import warnings
from collections import Counter
from contextlib import ExitStack

import torch
from battery import LEGIT, WRONG, Snippet, bugs, facts

from grader.probes import simdevice

TOLERANCE = 1e-5


class Device:
    """Moves tensors to the device under test and back."""

    def __init__(self, name):
        self.sim = name == "sim"
        self.device = simdevice.register() if self.sim else torch.device(name, 0)

    def to(self, tensor):
        """Return a leaf on the device."""
        if self.sim:
            return simdevice.to_sim(tensor)
        return tensor.detach().to(self.device).requires_grad_(tensor.requires_grad)

    def back(self, tensor):
        """Return a copy on the CPU."""
        return simdevice.to_cpu(tensor) if self.sim else tensor.detach().cpu()


def leaves(result):
    """Return the tensors of a result."""
    return [result] if isinstance(result, torch.Tensor) else [leaf for part in result for leaf in leaves(part)]


def error(got, want):
    """Return the largest difference, relative to the largest value where that is more than one."""
    if not want.numel():
        return 0.0
    difference = (got.double() - want.double()).nan_to_num(0.0, 0.0, 0.0).abs().max().item()
    return difference / max(1.0, want.double().nan_to_num(0.0, 0.0, 0.0).abs().max().item())


def gradients(results, inputs):
    """Return the gradients of a sum of squares, None where there is none."""
    used = [leaf.real if leaf.is_complex() else leaf for leaf in results if leaf.requires_grad]
    if not used or not any(tensor.requires_grad for tensor in inputs):
        return []
    return torch.autograd.grad(sum(leaf.double().pow(2).sum() for leaf in used), inputs, allow_unused=True)


def disagreement(snippet: Snippet, device: Device) -> str:
    """Return in what honest code differs from its run on the CPU, "" if in nothing."""
    tolerance = TOLERANCE if device.sim else snippet.tolerance
    on_cpu, there = snippet.inputs(), [device.to(tensor) for tensor in snippet.inputs()]
    torch.manual_seed(0)
    want = leaves(snippet.function(*on_cpu))
    torch.manual_seed(0)
    got = leaves(snippet.function(*there))
    if any(leaf.device != device.device for leaf in got):
        return f"a result is on {[str(leaf.device) for leaf in got]}"
    for a, b in zip(got, want, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype) or (device.sim and a.stride() != b.stride()):
            return f"{a.shape}, {a.dtype}, strides {a.stride()} and not {b.shape}, {b.dtype}, {b.stride()}"
        if (difference := error(device.back(a), b.detach())) > tolerance:
            return f"values differ by {difference:.1e}"
    for a, b in zip(gradients(got, there), gradients(want, on_cpu), strict=True):
        if (a is None) != (b is None):
            return "a gradient is missing"
        if a is not None and (difference := error(device.back(a), b)) > tolerance:
            return f"gradients differ by {difference:.1e}"
    return ""


def verdict(snippet: Snippet, device: Device) -> dict[str, object]:
    """Return how wrong code shows and the line of the snippet that is named for it."""
    inputs = [device.to(tensor) for tensor in snippet.inputs()]
    first = snippet.function.__code__.co_firstlineno
    lines = []
    with ExitStack() as stack:
        events = stack.enter_context(simdevice.watch(bugs.__file__)) if device.sim else []
        try:
            result = snippet.function(*inputs)
        except Exception as exception:  # noqa: BLE001 - any exception is the learner's
            frames = traceback.extract_tb(exception.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == bugs.__file__]
            return {"shows": "raises", "line": lines[-1] if lines else 0, "first": first, "message": str(exception)}
    failures, remarks = simdevice.judge_events(events)
    if any(leaf.device != device.device for leaf in leaves(result)):
        return {"shows": "elsewhere", "line": first, "first": first, "message": ""}
    for shows, findings in (("copies", failures), ("remark", remarks)):
        if findings:
            return {"shows": shows, "line": findings[0].line, "first": first, "message": findings[0].message}
    return {"shows": "unseen", "line": 0, "first": first, "message": ""}


def attempt(snippet, device):
    """Return the disagreement; an exception is one too."""
    try:
        return disagreement(snippet, device)
    except Exception as exception:  # noqa: BLE001 - reported with the snippet's name
        return f"{type(exception).__name__}: {str(exception)[:300]}"


def table(report):
    """Return the agreement as a Markdown table."""
    total, agree = Counter(), Counter()
    for name, problem in report["legit"].items():
        total[LEGIT[name].group] += 1
        agree[LEGIT[name].group] += not problem
    rows = [f"| {group} | {agree[group]}/{total[group]} |" for group in total]
    shown = Counter(str(entry["shows"]) for entry in report["wrong"].values())
    rows += [f"| wrong code: {shows} | {count}/{len(WRONG)} |" for shows, count in shown.items()]
    return "\n".join(["| group | agrees with the CPU |", "| --- | --- |", *rows])


def main():
    """Run everything and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="sim")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")  # torch.func.jvp calls it
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False  # for recurrent layers
    device = Device(options.device)
    report = {
        "available": simdevice.available() if device.sim else "",
        "legit": {name: attempt(snippet, device) for name, snippet in LEGIT.items()},
        "wrong": {name: verdict(snippet, device) for name, snippet in WRONG.items()},
        "facts": {name: facts.holds(fact) for name, fact in facts.FACTS.items()} if device.sim else {},
    }
    print(table(report) if options.table else json.dumps(report))  # noqa: T201


if __name__ == "__main__":
    main()
