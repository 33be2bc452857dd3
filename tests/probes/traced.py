"""Runs the snippets of `tracing/calls.py` and the honest battery under the tracer and prints JSON.

First without and then with spies in the dispatcher, which cannot be taken out again.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings

import torch
from agreement import gradients, leaves
from battery import LEGIT
from tracing import calls

from grader.probes import simdevice, tracer
from grader.probes.meter import measure


def expected_lines(function):
    """Return the lines of a snippet (or of the class that it calls) that are marked, [] for any line."""
    source, first = inspect.getsourcelines(calls.Inherited if function is calls.subclass else function)
    return [first + i for i, line in enumerate(source) if line.rstrip().endswith("# here")]


def observe(function, lists):
    """Return the calls that a snippet is charged with."""
    with tracer.trace(calls.__file__, **lists) as found:
        try:
            function()
        except Exception as exception:  # noqa: BLE001 - flex attention does not run under a mode
            if not found:
                return [["raised", 0, repr(exception)]]
    return [[call.name, call.line] for call in found]


def outcome(snippet, *, traced):
    """Return what a snippet of the battery computes, with gradients, and what the tracer says about it."""
    inputs, found = snippet.inputs(), []
    torch.manual_seed(0)
    if traced:
        with tracer.trace(snippet.function.__code__.co_filename) as found:
            results = leaves(snippet.function(*inputs))
            grads = gradients(results, inputs)
    else:
        results = leaves(snippet.function(*inputs))
        grads = gradients(results, inputs)
    return [*results, *grads], [[call.name, call.line] for call in found]


def same(left, right):
    """Tell whether two lists of tensors are equal to the last bit."""
    pairs = zip(left, right, strict=True)
    return all(a is b or (a.dtype == b.dtype and torch.equal(a.nan_to_num(), b.nan_to_num())) for a, b in pairs)


def imports_the_compiler():
    """Tell whether watching honest code imports PyTorch's compiler, which takes seconds."""
    with tracer.trace(calls.__file__), measure(calls.__file__):
        calls.attention_by_hand()
    simdevice.available()
    return "torch._dynamo" in sys.modules


def main():
    """Run everything and print."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")  # torch.func.jvp calls it
    torch.set_num_threads(1)
    report = {"expected": {}, "hooks": {}, "spies": {}, "battery": {}}
    report["compiler"] = imports_the_compiler()
    plain = {name: outcome(snippet, traced=False)[0] for name, snippet in LEGIT.items()}
    for stage in ("hooks", "spies"):
        if stage == "spies":
            tracer.install_dispatch_spies()
            tracer.install_dispatch_spies()
        for name, (function, _, lists, _) in calls.SNIPPETS.items():
            report[stage][name] = observe(function, lists)
            report["expected"][name] = expected_lines(function)
    for name, snippet in LEGIT.items():
        results, found = outcome(snippet, traced=True)
        report["battery"][name] = {"same": same(results, plain[name]), "calls": found}
    print(json.dumps(report))  # noqa: T201


if __name__ == "__main__":
    main()
