"""The simulated device against the CPU: honest code agrees, wrong code shows."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "OMP_NUM_THREADS": "1"}


def load_battery():
    """Import the battery under a name of its own: tests/probes is no package and not on the path."""
    if "battery" not in sys.modules:
        path = HERE / "battery" / "__init__.py"
        spec = importlib.util.spec_from_file_location("battery", path, submodule_search_locations=[str(path.parent)])
        sys.modules["battery"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["battery"])
    return sys.modules["battery"]


def facts():
    """Return the names of the facts, without importing a module that may register the device."""
    lines = (HERE / "battery" / "facts.py").read_text(encoding="utf-8").splitlines()
    return [lines[i + 1][4:].partition("(")[0] for i, line in enumerate(lines) if line == "@fact"]


battery = load_battery()
pytestmark = pytest.mark.xdist_group("battery")


def run(*options):
    """Run the battery in a process of its own: a registration cannot be undone."""
    command = [sys.executable, str(HERE / "agreement.py"), *options]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def report():
    """Return what one process with the simulated device found."""
    return run()


def test_the_device_is_available(report):
    """The probe finds nothing missing in this version of torch."""
    assert report["available"] == ""


def test_the_battery_is_large_enough():
    """A claim about honest code rests on many snippets."""
    assert len(battery.LEGIT) >= 150
    assert len(battery.WRONG) >= 32


@pytest.mark.parametrize("name", battery.LEGIT)
def test_honest_code_agrees_with_the_cpu(report, name):
    """Values, strides, dtypes and gradients are those of the CPU."""
    assert report["legit"][name] == ""


@pytest.mark.parametrize("name", battery.WRONG)
def test_wrong_code_shows(report, name):
    """A device bug shows as what it is, and not at a line outside of the snippet's file."""
    entry = report["wrong"][name]
    assert entry["shows"] == battery.WRONG[name].shows, entry
    assert entry["line"] or entry["shows"] == "unseen"


@pytest.mark.parametrize("name", facts())
def test_fact(report, name):
    """What `battery/facts.py` says about the device holds."""
    assert report["facts"][name] == ""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_simulated_device_agrees_with_a_real_one(report):
    """On a real device honest code agrees as well, and the same snippets raise or end up elsewhere."""
    real = run("--device", "cuda")
    assert [name for name, problem in real["legit"].items() if problem] == []
    hard = ("raises", "elsewhere")
    for name, entry in real["wrong"].items():
        if name.startswith("cuda_"):  # these name the real device
            continue
        simulated = report["wrong"][name]["shows"]
        assert (entry["shows"] in hard) == (simulated in hard), (name, entry, simulated)
