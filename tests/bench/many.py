"""Many answers at once: how many in a second, what a hanging one costs, and whether memory stays flat."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import known_answers
from grader.sandbox import limits
from grader.server.keeper import descendants
from tests.bench.commands import KATA
from tests.bench.table import baseline

ANSWERS = 200
GRADINGS = 1000
IMPORTS = 5
HANGS = "import torch\nfrom torch import nn\n\n\nclass MultiHeadAttention(nn.Module):\n    while True:\n        pass\n"


def table(folder: Path) -> Table:
    """Grade mixed answers with two jobs, then the same with one more that hangs, then with copies among them."""
    folder.mkdir()
    sources = [known.source for known in known_answers(catalog.find(KATA)) if known.kind != "stub"]
    mixed = list(itertools.islice(itertools.cycle(sources), ANSWERS))
    different = [f"{source}# answer {number}\n" for number, source in enumerate(mixed)]
    seconds, verdicts = _graded(folder, different)
    hanging, _verdicts = _graded(folder, [*different, HANGS])
    with_copies, _verdicts = _graded(folder, mixed)
    torch = baseline("torch")
    for _repetition in range(IMPORTS):
        torch.time()
    table = Table(title=f"kata grade {KATA} --file FOLDER --jobs 2", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    passed = verdicts.count("passed")
    table.add_row("answers, all different", f"{len(verdicts)}, {passed} of them pass")
    table.add_row("seconds", f"{seconds:.1f}")
    table.add_row("answers a second (target: 10)", f"{len(verdicts) / seconds:.1f}")
    each = statistics.median(torch.seconds)
    table.add_row(f"answers in the time of one `import torch`, {each:.2f} s", f"{len(verdicts) * each / seconds:.1f}")
    table.add_row("with one more that hangs", f"{hanging - seconds:+.1f} s, its own limit is 10 s")
    copies = len(mixed) - len(set(mixed))
    table.add_row(f"answers a second, {copies} of them copies", f"{len(mixed) / with_copies:.1f}")
    table.add_row("scratch folders and processes left", str(len(list((folder / "tmp").glob("kata-sandbox-*")))))
    return table


def _graded(folder: Path, sources: list[str]) -> tuple[float, list[str]]:
    answers = Path(tempfile.mkdtemp(dir=folder))
    for number, source in enumerate(sources):
        (answers / f"answer_{number:03}.py").write_text(source, encoding="utf-8")
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = os.environ | {"KATA_HOME": str(folder / "home"), "LANG": "C", "TMPDIR": str(scratch)}
    command = [sys.executable, "-m", "grader", "grade", KATA, "--file", str(answers), "--jobs", "2", "--json"]
    began = time.perf_counter()
    output = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout
    return time.perf_counter() - began, [json.loads(line)["verdict"] for line in output.splitlines()]


def memory(screen: Console) -> Table:
    """Watch the memory of all processes of a session over many gradings."""
    kata = catalog.find("masked-softmax")
    table = Table(title=f"Memory over {GRADINGS} gradings of {kata.id}", title_justify="left")
    table.add_column("gradings", justify="right")
    table.add_column("MiB resident, of all its processes", justify="right")
    with Session() as session, screen.status("grading") as status:
        for number in range(1, GRADINGS + 1):
            session.grade(Request(kata.id, kata.reference(), kata.filename), many=True)
            if number in (10, 100) or number % 250 == 0:
                status.update(f"{number} of {GRADINGS}")
                table.add_row(str(number), f"{_resident(os.getpid()) >> 20}")
    return table


def _resident(pid: int) -> int:
    """Return the memory of the processes below one, shared pages divided among them."""
    total = 0
    for child in descendants(pid):
        try:
            rollup = Path(f"/proc/{child}/smaps_rollup").read_text(encoding="ascii")
        except PermissionError:  # a sandbox's memory is its own affair
            total += limits.resident_bytes(child)
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        else:
            total += sum(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total
