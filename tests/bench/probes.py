"""What the simulated device and the counting of costs add to a call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from rich.table import Table

from grader import catalog
from grader.probes import meter, simdevice, tracer

KATA = "mha"
CALLS = 10


def table(repetitions: int) -> Table:
    """Time calls of a reference as they are, on the simulated device, counted, and traced."""
    torch.set_num_threads(1)
    namespace: dict[str, object] = {}
    exec(compile(catalog.find(KATA).reference(), "reference.py", "exec"), namespace)
    module = namespace["MultiHeadAttention"](16, 4).eval()  # type: ignore[operator]
    x, mask = torch.randn(2, 6, 16), torch.ones(6, 6, dtype=torch.bool).tril()
    simdevice.register()
    on_sim = simdevice.module_to_sim(namespace["MultiHeadAttention"](16, 4).eval())  # type: ignore[operator]
    sim_x, sim_mask = simdevice.to_sim(x), simdevice.to_sim(mask)

    def counted() -> None:
        with torch.no_grad(), meter.measure("reference.py", x, mask, module):
            module(x, x, x, mask)

    def traced() -> None:
        with tracer.trace("reference.py"):
            module(x, x, x, mask)

    def simulated() -> None:
        with simdevice.watch("reference.py"):
            on_sim(sim_x, sim_x, sim_x, sim_mask)

    ways: dict[str, Callable[[], object]] = {
        "as it is": lambda: module(x, x, x, mask),
        "on the simulated device": simulated,
        "with its cost counted": counted,
        "traced for forbidden calls": traced,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _repetition in range(repetitions + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            for _call in range(CALLS):
                way()
            seconds[name].append((time.perf_counter() - began) / CALLS)
    table = Table(title=f"One call of {KATA}, medians of {repetitions}", title_justify="left")
    for heading in ("", "a call", "times as long"):
        table.add_column(heading, justify="right" if heading else "left")
    plain = seconds["as it is"][1:]
    for name, times in seconds.items():
        ratio = statistics.median(mine / theirs for mine, theirs in zip(times[1:], plain, strict=True))
        table.add_row(name, f"{1e6 * statistics.median(times[1:]):.0f} µs", f"{ratio:.1f}")
    return table
