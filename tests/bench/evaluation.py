"""`kata eval` on many mixed samples: killed twice and resumed, what is lost, how much memory, how many in a second."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from rich.table import Table

from grader import catalog
from grader.cli.many import cores
from grader.dev.answers import known_answers

KATAS = ("masked-softmax", "masks", "split-heads", "alibi")


def table(folder: Path, samples: int) -> Table:
    """Grade samples of several katas, kill the command after a third and after two thirds, and let it go on."""
    folder.mkdir()
    written(folder / "samples.jsonl", samples)
    out, peaks, seconds = folder / "out.jsonl", [], 0.0
    for enough in (samples // 3, 2 * samples // 3, samples + 1):
        began = time.perf_counter()
        peaks.append(_run(folder, out, enough))
        seconds += time.perf_counter() - began
    rows = [json.loads(line) for line in out.read_bytes().splitlines()]
    unique = {(row["task_id"], row["sample"]) for row in rows}
    table = Table(title=f"kata eval, killed twice and resumed, --jobs {cores()}", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("samples, all different", str(samples))
    table.add_row("lines of results; of them each sample once", f"{len(rows)}; {len(unique)}")
    table.add_row("errors of the grader", str(sum(row["verdict"] == "error" for row in rows)))
    table.add_row("passed", str(sum(row["verdict"] == "passed" for row in rows)))
    table.add_row("seconds, with three starts", f"{seconds:.1f}")
    table.add_row("answers a second; for each core", f"{samples / seconds:.1f}; {samples / seconds / cores():.1f}")
    table.add_row("peak memory of the command in its three lives, MiB", ", ".join(f"{peak >> 10}" for peak in peaks))
    return table


def written(path: Path, samples: int) -> None:
    """Write samples of several katas, right and wrong ones, all different."""
    known = [
        (kata, answer.source) for kata in KATAS for answer in known_answers(catalog.find(kata)) if answer.kind != "stub"
    ]
    with path.open("w", encoding="utf-8") as file:
        for number, (kata, source) in enumerate(itertools.islice(itertools.cycle(known), samples)):
            file.write(json.dumps({"task_id": kata, "completion": f"```python\n{source}# {number}\n```"}) + "\n")


def _run(folder: Path, out: Path, enough: int) -> int:
    """Start the command, kill it once there are enough lines, and return its peak memory in KiB."""
    environment = os.environ | {"KATA_HOME": str(folder / "home"), "LANG": "C"}
    command = [sys.executable, "-m", "grader", "eval", "samples.jsonl", "-o", out.name, "--resume", "--json"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        except OSError:
            break
        peak = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), peak)
        if out.exists() and out.read_bytes().count(b"\n") >= enough:
            process.send_signal(signal.SIGKILL)
        time.sleep(0.1)
    process.wait()
    return peak
