"""Calls of a case whose caller has set another default."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from grader.judge.cases.check import Check
from grader.sandbox.levels import HALF


@contextmanager
def default_of_bfloat16(check: Check) -> Iterator[None]:
    """Let bfloat16 be PyTorch's default dtype in the calls inside, as for a model that is built in it."""
    variant = check.variant
    others = tuple(level for level in variant.levels if level[0] != "caller")
    check.variant = dataclasses.replace(variant, levels=(*others, ("caller", HALF)))
    try:
        yield
    finally:
        check.variant = variant
