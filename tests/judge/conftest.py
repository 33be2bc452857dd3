"""A made-up kata in a folder of its own, and a judge without processes: answers run in this one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Kata
from grader.judge.contract import Grading, Reference

REFERENCE = '''
"""Scale and shift."""

import torch
from torch import nn


def scaled(x, factor=2.0):
    """Return the doubled input and its sum."""
    doubled = x * factor
    return doubled, doubled.sum(-1)


class Shift(nn.Module):
    """Linear, then a shift."""

    def __init__(self, width):
        super().__init__()
        if width < 1:
            raise ValueError("no width")
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)
'''


@pytest.fixture
def make_kata(tmp_path: Path) -> Callable[..., Kata]:
    """Return a function that writes a kata and returns it."""

    def make(reference: str = REFERENCE, mistakes: str = "", entry: tuple[str, ...] = ("scaled", "Shift")) -> Kata:
        solution = tmp_path / "solutions" / "made-up"
        solution.mkdir(parents=True, exist_ok=True)
        (solution / "reference.py").write_text(textwrap.dedent(reference).lstrip("\n"), encoding="utf-8")
        (solution / "mistakes.toml").write_text(textwrap.dedent(mistakes), encoding="utf-8")
        return Kata(
            id="made-up",
            title={"en": "Made up", "zh": "虚构"},
            track=1,
            order=1,
            difficulty=1,
            minutes=1,
            entry=entry,
            needs=(),
            tags=(),
            families=("core", "mask", "dtype", "grad", "device", "contract", "cost"),
            forbidden=(),
            allowed=(),
            folder=tmp_path / "katas" / "made-up",
            solution=solution,
        )

    return make


@pytest.fixture
def grading(make_kata: Callable[..., Kata]) -> Grading:
    """A grading of the made-up kata without an answer."""
    return Grading(Reference(make_kata()), seed=5)
