"""Answers that now and then return something else than they should: whatever it is, it is the answer that fails."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, of_kata

KATAS = catalog.katas()
ODDLY = '''

def _oddly(function):
    """Return what `function` does, and each EVERY-th time something that nobody asked for."""
    import functools

    count = 0

    @functools.wraps(function)
    def odd(*args, **kwargs):
        nonlocal count
        value = function(*args, **kwargs)
        count += 1
        if count % EVERY:
            return value
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        tensor = first if isinstance(first, torch.Tensor) and first.dim() else torch.zeros(2, 3)
        junk = [None, (first, first), tensor[:1], 3.0, {"a": first}, [], "text", torch.zeros(()), torch.zeros(0, 2)]
        return [*junk, (value, value, value)][(count // EVERY) % (len(junk) + 1)]

    return odd


for _name in NAMES:
    _entry = globals()[_name]
    if isinstance(_entry, type):
        for _method, _function in list(vars(_entry).items()):
            if callable(_function) and not _method.startswith("_"):
                setattr(_entry, _method, _oddly(_function))
    else:
        globals()[_name] = _oddly(_entry)
'''


@pytest.mark.one_of_many
@pytest.mark.parametrize("every", [2, 3])
@pytest.mark.parametrize("kata", [of_kata(kata.id, kata, name=kata.id) for kata in KATAS.values()])
def test_odd_results(kata: catalog.Kata, every: int, session: Session) -> None:
    """A case that looks at such a result says what came; nothing of it is a fault of the grader."""
    oddly = ODDLY.replace("EVERY", str(every)).replace("NAMES", repr(kata.entry))
    source = f"import torch\n{kata.reference()}{oddly}"
    report = session.grade(Request(kata.id, source, kata.filename, seed=SEED), many=True)
    assert report["verdict"] == "failed"


def test_what_came_is_said(session: Session) -> None:
    """The sentence names what the answer returned, not a line of the grader."""
    kata = catalog.find("positional-encoding")
    source = kata.reference()
    assert source.count("return self.dropout(") == 1
    line = next(line for line in source.splitlines() if "return self.dropout(" in line)
    indent, result = line.split("return ")
    source = source.replace(
        line, f"{indent}result = {result}\n{indent}return (result, result) if self.training else result"
    )
    report = session.grade(Request(kata.id, source, kata.filename, seed=11, case="half_of_the_entries"))
    failed = [case for case in report["cases"] if case["outcome"] == "failed"]
    assert failed
    assert all(
        case["message"].startswith("your code returned a tuple of 2, which does not fit here") for case in failed
    )
