"""What the probes in the sandbox saw, turned into failures: forbidden calls, tensors on the wrong device, traffic."""

from __future__ import annotations

from typing import Any

from grader.judge.failure import Failure
from grader.text import clean


def observed_failure(reply: dict[str, Any], device: str) -> Failure | None:
    """Return the failure that the observations of a call amount to, if any."""
    seen = reply.get("seen")
    if type(seen) is not dict:
        return None
    for name, line in _pairs(seen.get("forbidden")):
        return Failure("forbidden", f"{name} is out of bounds in this kata", line=line)
    return None


def _pairs(value: Any) -> list[tuple[str, int]]:
    if type(value) is not list:
        return []
    pairs = [item for item in value if type(item) is list and len(item) == 2]  # noqa: PLR2004
    return [(clean(str(name), 100), line if type(line) is int else 0) for name, line in pairs]
