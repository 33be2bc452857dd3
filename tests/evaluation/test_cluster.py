"""`kata eval --engine ray` on a cluster of two nodes on this machine, one of which is killed half way.

Ray comes with the extra `[ray]`; without it there is a sentence, which is tested, too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import RealTool
from tests.evaluation.test_kills import KINDS, rows

HAS_RAY = importlib.util.find_spec("ray") is not None
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.timeout(400), pytest.mark.filterwarnings("ignore")]
SAMPLES = 40


def write(folder: Path) -> list[str]:
    """Write samples of three kinds, and return the verdicts that they get."""
    kinds = [list(KINDS)[number % 3] for number in range(SAMPLES)]
    lines = [
        json.dumps({"task_id": "double", "completion": KINDS[kind].format(number)}) + "\n"
        for number, kind in enumerate(kinds)
    ]
    (folder / "samples.jsonl").write_text("".join(lines))
    return ["passed" if kind == "passed" else "failed" for kind in kinds]


def verdicts(path: Path) -> dict[int, str]:
    """Return the verdict of each sample."""
    return {row["sample"]: row["verdict"] for row in rows(path)}


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_it_says_what_to_install(real: RealTool) -> None:
    """A sentence, before anything is graded."""
    write(real.folder)
    error = real("eval", "samples.jsonl", "-o", "out.jsonl", "--engine", "ray", code=2).stderr
    assert "attention-kata[ray]" in error
    assert rows(real.folder / "out.jsonl") == []


@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install 'attention-kata[ray]'")
def test_a_node_is_killed_half_way(real: RealTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same lines as without, each once: what the dead node was asked is asked again."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(next(real.python.parent.parent.glob("lib/python*/site-packages"))))
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - only where it is

    expected = write(real.folder)
    real("eval", "samples.jsonl", "-o", "alone.jsonl", "--jobs", "2", "--trust", "--seed", "7")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        command = ("eval", "samples.jsonl", "-o", "out.jsonl", "--engine", "ray", "--address", cluster.address)
        process = real.process(*command, "--trust", "--seed", "7", "--jobs", "1")
        out, deadline = real.folder / "out.jsonl", time.monotonic() + 200
        while (len(rows(out)) if out.exists() else 0) < SAMPLES // 4:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)
        output, error = process.communicate(timeout=200)
        assert process.returncode == 0, output + error
    finally:
        cluster.shutdown()
    assert len(rows(out)) == SAMPLES
    assert verdicts(out) == dict(enumerate(expected)) == verdicts(real.folder / "alone.jsonl")
    seeds = {row["seed"] for row in rows(out)}
    assert seeds == {7}
    assert os.environ["PYTHONPATH"] not in sys.path
