"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


def eventually(condition: Callable[[], _Value], seconds: float = 10.0) -> _Value:
    """Wait until something holds and return it."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value
