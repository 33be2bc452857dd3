"""`kata eval --engine ray` on one node and on two of this machine: what a node costs, what a second one gives."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.table import Table

from tests.bench.evaluation import written

_PROCESSORS: Final = frozenset(os.sched_getaffinity(0))


def table(folder: Path, samples: int) -> Table:
    """Grade the same samples on one node and on two, one at a time on each, and each on a processor of its own."""
    folder.mkdir()
    written(folder / "samples.jsonl", samples)
    table = Table(title=f"kata eval --engine ray, {samples} samples, --jobs 1 on each node", title_justify="left")
    table.add_column("")
    for heading in ("first answer after, s", "answers a second after it", "against one node"):
        table.add_column(heading, justify="right")
    alone = None
    for nodes in (1, 2):
        with _cluster(nodes) as address:
            first, rate = _times(folder, f"out{nodes}.jsonl", address, samples)
        alone = alone or rate
        table.add_row(f"{nodes} node{'s'[: nodes - 1]}", f"{first:.1f}", f"{rate:.2f}", f"{rate / alone:.2f}")
    return table


@contextmanager
def _cluster(nodes: int) -> Iterator[str]:
    """Start a cluster whose nodes are processes of this machine."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0"}
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - only where it is installed

    cluster = Cluster()
    try:
        for processor in itertools.islice(itertools.cycle(_PROCESSORS), nodes):
            with _pinned(processor):
                cluster.add_node(num_cpus=1, include_dashboard=False)
        yield cluster.address
    finally:
        cluster.shutdown()


@contextmanager
def _pinned(processor: int) -> Iterator[None]:
    """Have what is started meanwhile, and all that it starts, keep to a processor."""
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, _PROCESSORS)


def _times(folder: Path, out: str, address: str, samples: int) -> tuple[float, float]:
    """Return the seconds to the first answer, and how many come in a second after it."""
    environment = os.environ | {"KATA_HOME": str(folder / "home"), "LANG": "C"}
    options = ("-o", out, "--engine", "ray", "--address", address, "--jobs", "1", "--json")
    command = [sys.executable, "-m", "grader", "eval", "samples.jsonl", *options]
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    first = None
    while process.poll() is None:
        if first is None and (folder / out).exists() and (folder / out).stat().st_size:
            first = time.perf_counter()
        time.sleep(0.02)
    assert process.returncode == 0
    assert first is not None
    lines = (folder / out).read_bytes().count(b"\n")
    assert lines == samples
    return first - began, (lines - 1) / (time.perf_counter() - first)
