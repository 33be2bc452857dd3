"""Which lines run one after the other."""

from __future__ import annotations

import pytest

from grader.probes.ways import OUTSIDE, Ways

SOURCE = """\
def g(x):
    if x > 1:
        x = x - 1
    return x
def f(x):
    for _ in range(2):
        x = g(x)
    return 1 / x
"""


@pytest.fixture
def functions() -> dict:
    """Return the functions of a file."""
    namespace: dict = {}
    exec(compile(SOURCE, "answer.py", "exec"), namespace)
    return namespace


def test_each_function_has_its_own_ways(functions: dict) -> None:
    """From where it begins to where it ends, whatever runs in between."""
    with Ways("answer.py") as ways:
        functions["f"](1)
    assert ways.taken == {
        *((OUTSIDE, 2), (2, 4), (4, OUTSIDE)),
        *((OUTSIDE, 6), (6, 7), (7, 6), (6, 8), (8, OUTSIDE)),
    }


def test_a_call_that_raises_has_gone_somewhere_too(functions: dict) -> None:
    """A condition that came out otherwise is another way."""
    with Ways("answer.py") as ways, pytest.raises(ZeroDivisionError):
        functions["f"](0)
    with Ways("answer.py") as others:
        functions["f"](2)
    assert others.taken - ways.taken == {(2, 3), (3, 4)}
