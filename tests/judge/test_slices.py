"""Answers that compute with Python's numbers and lists: the statements among which the mistake is."""

from __future__ import annotations

import torch

from grader.judge.explain.locate.flow import Flow
from grader.judge.explain.locate.region import Alignment, Region
from grader.judge.explain.locate.slices import Slices, Told, alike_places
from grader.judge.explain.locate.traces import Step, Trace
from grader.probes.steps import Recorder
from grader.sandbox.named import telling

MODEL = """
def f(items, limit):
    total = 0.125
    written = []
    for item in items:
        value = item * 1.37
        written.append(value)
        total += value
        if total > limit:
            break
    return written, total
"""


def traced(source: str, *args) -> Trace:
    """Return what a function did."""
    namespace: dict = {}
    exec(compile(source, "answer.py", "exec"), namespace)
    recorder = Recorder("answer.py")
    with recorder:
        result = namespace["f"](*args)
    kept = set(telling(recorder.steps))
    steps = (
        Step(s.line, s.operation, tuple(s.reads), s.dtype, s.shape, s.name, s.cuts, s.writes, s.value * (n in kept))
        for n, s in enumerate(recorder.steps)
    )
    return Trace(tuple(steps), passed=tuple(recorder.lines.passed), result=result)


def told(reference: str, answer: str, *args) -> tuple[Told, Told]:
    """Return what both did."""
    theirs, mine = traced(reference, *args), traced(answer, *args)
    alignment = Alignment(theirs, mine, 1e-6)
    one = Told(theirs, Flow(reference), alignment.name_of_theirs, 9)
    return one, Told(mine, Flow(answer), alignment.name_of_mine, 9)


def region(answer: str, *args, right: tuple = (), model: str = MODEL) -> Region:
    """Return where an answer goes wrong; ``right``: arguments with which it does not."""
    together = alike_places(*told(model, answer, *right)) if right else {}
    found = Slices(*told(model, answer, *args), together).region()
    assert found is not None
    return found


def line(source: str, text: str) -> int:
    """Return the number of the only line with a text."""
    (found,) = (number for number, one in enumerate(source.splitlines(), 1) if text in one)
    return found


ITEMS = [0.31, 2.77, 1.93, 0.58, 3.14]


def test_the_statement_after_the_last_one_that_is_right() -> None:
    """What a name stood for is that of the reference, whatever it is called; what is made of it is not."""
    answer = MODEL.replace("written.append(value)", "rough = round(value, 1)\n        written.append(rough)")
    answer = answer.replace("value", "v")
    found = region(answer, ITEMS, 99.0)
    assert line(answer, "round(") in found.lines
    assert found.right is not None
    assert found.right.name in ("value", "total")
    assert line(answer, "v = item") not in found.lines


def test_a_loop_that_ends_too_early() -> None:
    """Everything that was made is right: it is the conditions that ended it."""
    answer = MODEL.replace("if total > limit:", "if total > limit or value < 1:")
    found = region(answer, ITEMS, 99.0)
    assert line(answer, "or value < 1") in found.lines
    assert line(answer, "value = item") not in found.lines


def test_a_place_that_is_right_in_another_call_shows_when_it_is_not() -> None:
    """Small numbers tell nothing by themselves; beside a call that is right they do."""
    model = (
        "def f(xs):\n    found = []\n    for x in xs:\n        y = x + 1\n        found.append(y)\n    return found\n"
    )
    answer = model.replace("y = x + 1\n", "y = x + 1\n        y = y % 8\n")
    found = region(answer, [3, 1, 9, 2], right=([1, 2, 3, 4, 5, 6],), model=model)
    assert line(answer, "y % 8") in found.lines
    assert line(answer, "x + 1") not in found.lines


def test_what_a_call_was_given_is_right() -> None:
    """No line of the head of a function is blamed."""
    answer = MODEL.replace("total = 0.125", "total = 0.126")
    found = region(answer, ITEMS, 99.0)
    assert line(answer, "0.126") in found.lines
    assert line(answer, "def f") not in found.lines


def test_a_tensor_stands_for_that_of_the_reference() -> None:
    """Numbers that come out of a tensor hang on it, and it is right where its numbers are."""
    model = "import torch\ndef f(x):\n    w = torch.exp(x)\n    best = w.argmax().item()\n    return [best, 3]\n"
    answer = model.replace("w.argmax().item()", "w.argmin().item()").replace("w", "b")
    found = region(answer, torch.linspace(-1, 1, 12) ** 3, model=model)
    assert 4 in found.lines
    assert 3 not in found.lines
    assert found.right is not None
    assert found.right.name == "w"


def test_what_is_kept_in_an_object_is_followed() -> None:
    """Attributes carry numbers past the names."""
    answer = """
class Box:
    pass

def f(items, limit):
    box = Box()
    box.kept = []
    total = 0.125
    for item in items:
        box.kept.append(item * 1.38)
        total += item * 1.37
        if total > limit:
            break
    return box.kept, total
"""
    found = region(answer, ITEMS, 99.0)
    assert line(answer, "1.38") in found.lines
