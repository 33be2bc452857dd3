"""The first command of the README."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.grades

DEMO = Path(__file__).with_name("demo")


@pytest.mark.one_of_many(of=3)
def test_the_demo_shows_a_named_mistake_and_a_pass(neutral_environment) -> None:
    """A wrong answer with its diagnosis, the correction, a pass."""
    result = subprocess.run(
        [sys.executable, str(DEMO)],
        env=neutral_environment | {"LANG": "C.UTF-8", "COLUMNS": "100", "PYTHONPATH": str(DEMO.parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    steps = ["✗ mha", "This is what you get when a 3-D mask is broadcast over heads", "+  ", "✓ mha passed"]
    positions = [result.stdout.index(step) for step in steps]
    assert positions == sorted(positions)
