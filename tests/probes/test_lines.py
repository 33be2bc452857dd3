"""The statements that run, and what names stand for after them."""

from __future__ import annotations

from collections import Counter

import torch

from grader.probes.lines import MOST_PASSED, UNKNOWN
from grader.probes.steps import Recorder


def passed(source: str, *args) -> list[tuple[int, dict[str, str]]]:
    """Return lines with what they made."""
    namespace: dict = {"Counter": Counter}
    exec(compile(source, "answer.py", "exec"), namespace)
    recorder = Recorder("answer.py")
    with recorder:
        namespace["f"](*args)
    return [(one.line, one.made) for one in recorder.lines.passed]


def test_a_name_is_written_down_where_it_changes() -> None:
    """Also where what it stands for is changed in place, and with what the function returns."""
    source = "def f(n):\n    found = []\n    for i in range(n):\n        found.append(i / 4)\n    return found\n"
    told = passed(source, 2)
    assert told[:4] == [(1, {"n": "2"}), (2, {"found": "[]"}), (3, {"i": "0"}), (4, {"found": "[0]"})]
    assert told[-1] == (5, {"return": "[0, 0.25]"})


def test_containers_of_the_same_are_alike() -> None:
    """A list and a tuple, a dictionary in another order, a set; a tensor is the number of its step."""
    source = (
        "def f(x):\n    a, b = (1, 2), Counter('ba')\n    c = {'y', 'x'}\n    d, e = [x + 1], print\n    return 0\n"
    )
    made = {name: text for _line, one in passed(source, torch.ones(2)) for name, text in one.items()}
    assert made["a"] == "[1, 2]"
    assert made["b"] == "{'a': 1, 'b': 1}"
    assert made["c"] == "['x', 'y']"
    assert made["d"] == "[#1]"
    assert made["e"] == "()"


def test_what_nobody_knows_is_not_written_down() -> None:
    """An object, a text that looks like a sign for one, what is too large."""
    made = {
        name: text
        for _line, one in passed("def f(a, b, c):\n    return 0\n", object(), "?", [0] * 999)
        for name, text in one.items()
    }
    assert made["a"] == UNKNOWN
    assert made["b"] == "'?'"
    assert made["c"] == UNKNOWN


def test_what_is_written_down_has_an_end() -> None:
    """A loop without one does not fill the memory."""
    told = passed("def f():\n    for i in range(100_000):\n        j = i\n    return j\n")
    assert len(told) == MOST_PASSED
