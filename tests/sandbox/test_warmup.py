"""What a keeper does once for the many sandboxes that are forked from it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.sandbox import limits
from grader.server import launch

FORKED = """
import os
from grader.sandbox.warmup import warm_up, warm_up_for_forks
from grader.probes import simdevice
from grader.sandbox import limits

assert warm_up_for_forks()
assert limits.threads() == 1
child = os.fork()
if not child:
    problem = simdevice.available()  # differentiates on the device
    warm_up(device=True)
    os._exit(3 if problem else 0)
_pid, status = os.waitpid(child, 0)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.grades
@pytest.mark.skipif(not limits.LINUX, reason="forks nowhere else")
def test_what_is_forked_has_all_it_needs(tmp_path) -> None:
    """No thread is lost in the fork, and gradients reach the simulated device in the forked process."""
    environment = launch.bare_environment(str(tmp_path)) | {"PYTHONPATH": launch.PACKAGE_ROOT}
    done = subprocess.run(
        [sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
