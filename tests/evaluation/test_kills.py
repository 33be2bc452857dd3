"""`kata eval` as a program: killed twice and resumed, and with answers that attack it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import RealTool

pytestmark = [pytest.mark.xdist_group("eval")]
HOSTILE = Path(__file__).parent.parent / "hostile"
SAMPLES = 60
KINDS = {
    "passed": "def double(x):\n    if not hasattr(x, 'dtype'): raise TypeError('no tensor')\n    return 2 * x  # {}\n",
    "failed": "def double(x):\n    return x + 3 + {}\n",
    "raises": "def double(x):\n    raise RuntimeError({})\n",
}


def rows(path: Path) -> list[dict]:
    """Return the whole lines of results."""
    return [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


@pytest.mark.one_of_many(of=4)
def test_killed_twice_and_resumed(real: RealTool) -> None:
    """Nothing is lost, nothing is graded twice, and each line is that of its sample."""
    kinds = [list(KINDS)[number % 3] for number in range(SAMPLES)]
    with (real.folder / "samples.jsonl").open("w") as file:
        for number, kind in enumerate(kinds):
            file.write(json.dumps({"task_id": "double", "completion": KINDS[kind].format(number)}) + "\n")
    out = real.folder / "out.jsonl"
    command = ("eval", "samples.jsonl", "-o", "out.jsonl", "--jobs", "2", "--resume", "--trust", "--json")
    for enough in (10, 25):
        process = real.process(*command)
        deadline = time.monotonic() + 90
        while (len(rows(out)) if out.exists() else 0) < enough:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(rows(out)) < SAMPLES
    summary = json.loads(real(*command).stdout)
    found = rows(out)
    assert sorted(row["sample"] for row in found) == list(range(SAMPLES))
    expected = {number: "passed" if kind == "passed" else "failed" for number, kind in enumerate(kinds)}
    assert {row["sample"]: row["verdict"] for row in found} == expected
    assert len({row["seed"] for row in found}) == 1
    assert summary["tasks"]["double"] == {"graded": SAMPLES, "passed": 20, "missing": 0, "pass@1": pytest.approx(1 / 3)}


ATTACKS = (
    "forged_stdout",
    "forged_reply",
    "kill_everyone",
    "os_exit",
    "print_flood",
    "loop_import",
    "read_parent_memory",
    "rewrite_workspace",
)


@pytest.mark.one_of_many(of=4)
def test_hostile_samples_fail_one_by_one(real: RealTool) -> None:
    """An answer that attacks has failed; those around it, and the file of results, are as they would be without."""
    good = KINDS["passed"].format(0)
    texts = []
    for name in ATTACKS:
        attack = (
            (HOSTILE / f"{name}.py")
            .read_text()
            .replace("def masked_softmax(scores, mask=None, dim=-1)", "def double(x)")
        )
        texts += [attack.replace("masked_softmax", "double"), good + f"# beside {name}\n"]
    lines = [json.dumps({"task_id": "double", "completion": text}) + "\n" for text in texts]
    (real.folder / "samples.jsonl").write_text("".join(lines))
    real("eval", "samples.jsonl", "-o", "out.jsonl", "--jobs", "2", "--trust")
    found = {row["sample"]: row for row in rows(real.folder / "out.jsonl")}
    assert sorted(found) == list(range(len(texts)))
    told = {name: (found[2 * at]["verdict"], found[2 * at + 1]["verdict"]) for at, name in enumerate(ATTACKS)}
    assert told == dict.fromkeys(ATTACKS, ("failed", "passed"))
    assert [path.name for path in real.scratch.iterdir() if path.name.startswith("kata-sandbox")] == []
