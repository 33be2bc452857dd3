"""Shape comments of the references: true on distinct sizes, for every kata on disk; false ones are found."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from pathlib import Path

import pytest

from grader import catalog
from grader.catalog import FAMILIES, Kata
from grader.dev import shapes

KATAS = catalog.katas()
REFERENCE = '''
from torch import nn


def split(x, n_heads):
    """(B, S, d_model) to (B, H, S, d_head)."""
    tokens = x.unflatten(2, (n_heads, -1))  # {tokens}
    return tokens.transpose(1, 2)  # {returned}


class Project(nn.Module):
    def __init__(self, d_in, d_out=4):
        super().__init__()
        self.linear = nn.Linear(d_in, d_out)

    def forward(self, x, mask=None, table=None):
        y = self.linear(x)  # {projected}
        if mask is not None:
            mask = mask.unsqueeze(1)  # {mask}
        if x.dim() == 2:
            y = y.expand(
                7, *y.shape
            )  # {expanded}
        rows, columns = y.sum(-1), y.sum(-2)  # {both}
        return rows, columns
'''
CASES = """
import pytest
import torch


@pytest.mark.parametrize(("batch", "heads"), [(2, 3), pytest.param(3, 2, id="other")])
@pytest.mark.parametrize("length", [5, 7])
def test_split(check, rng, batch, heads, length):
    check["split"](rng.normal(batch, length, heads * 4), heads)


def test_project(check, rng):
    project = check.module(5)
    project(rng.normal(2, 3, 5))
    project(rng.normal(2, 3, 5), rng.keep(2, 3, 6))
    project(rng.normal(2, 3, 5), rng.keep(2, 1, 6))
    check.module(d_in=3, d_out=6)(rng.normal(4, 3))


@pytest.mark.contract
def test_refusal(check, rng):
    with check.raises(RuntimeError):
        check.module(5)(rng.normal(2, 3, 4))


@pytest.mark.cost
def test_cost(check, rng):
    check.at_most(check["split"].run(rng.normal(2, 5, 12), 3).cost.calls, 0, "costs something")
"""
TRUE = {
    "tokens": "(B, S, H, d_head)",
    "returned": "(B, H, S, d_head)",
    "projected": "(..., d_out)",
    "mask": "(B, 1, n, m), a head axis for the scores",
    "expanded": "(7, n, d_out)",
    "both": "(..., n), (..., d_out)",
}


@pytest.fixture(autouse=True)
def marks_of_cases(pytestconfig: pytest.Config) -> None:
    """Cases may use their marks: the project's own tests refuse unknown ones."""
    for name in (*FAMILIES, "derive", "trains", "precise", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


@pytest.mark.one_of_many
@pytest.mark.parametrize("kata", KATAS.values(), ids=KATAS)
def test_references(kata: Kata) -> None:
    """Every shape comment in every reference is true in all runs, and put to the test by some."""
    assert list(shapes.problems(kata)) == []


@pytest.fixture
def made_up(tmp_path: Path):
    """Return a function that finds the problems of a made-up reference with these comments."""

    def problems(**comments: str) -> list[str]:
        (tmp_path / "reference.py").write_text(REFERENCE.format(**TRUE | comments))
        (tmp_path / "cases.py").write_text(textwrap.dedent(CASES))
        kata = dataclasses.replace(KATAS["mha"], entry=("split", "Project"), solution=tmp_path)
        return list(shapes.problems(kata))

    return problems


def test_a_grading_that_cannot_be_prepared(made_up, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge would grade without a plan and take longer: whoever writes a kata hears of it."""

    def fails(*_arguments: object) -> set[int]:
        raise TypeError("what is this?")

    monkeypatch.setattr("grader.judge.runs.plan.chosen", fails)
    assert made_up() == ["no grading can be prepared: TypeError: what is this?"]


def test_true_comments(made_up) -> None:
    """Helpers, modules, several values, statements of several lines and masks that broadcast are understood."""
    assert made_up() == []


@pytest.mark.parametrize(
    ("where", "comment", "says"),
    [
        ("tokens", "(B, H, S, d_head)", r"is false: the shape is \(2, 5, 3, 4\), where H = 3"),
        ("tokens", "(B, S, d_model)", r"is false: the shape is \(2, 5, 3, 4\)"),
        ("returned", "(B, S, H, d_head)", r"is false: the shape is \(2, 3, 5, 4\), where S = 5"),
        ("returned", "(B, H, S, H + 2)", r"is false: the shape is \(2, 3, 5, 4\), where H \+ 2 = 5"),
        ("returned", "(B, H, S, 2 * width)", "is false: 2 \\* width has no value here"),
        ("projected", "(..., d_in)", "where d_in = 5"),
        ("expanded", "(B, 7, d_out)", "is false"),
        ("both", "(..., n)", r"is false"),
        ("both", "(..., n), (..., d_out), (..., n)", "it stands for 3 tensors, there are 2"),
        ("mask", "(B, n, 1, m)", "is false"),
        ("mask", "(B, n, m)", "is false"),
    ],
)
def test_one_false_comment(made_up, where: str, comment: str, says: str) -> None:
    """A comment that names a wrong size, axis, order or number of axes or values is found, and the shape is shown."""
    found = made_up(**{where: comment})
    assert [problem for problem in found if problem.startswith("reference.py:")] == found
    assert any(re.search(says, problem) and f"`# {comment}`" in problem for problem in found), found


def test_what_cannot_be_checked(made_up) -> None:
    """A comment that only looks like a shape is prose; one that no tensor can be held against is a problem."""
    assert made_up(both="(softmax over nothing)") == []
    assert made_up(both="a row of nothing but -inf is NaN") == []
    source = REFERENCE.format(**TRUE).replace("if x.dim() == 2:", "if x.dim() == 2:  # (B, n)")
    (comment,) = [comment for comment in shapes.read(source) if comment.unusable]
    assert str(comment).endswith("`# (B, n)`")
    inside = source.replace("7, *y.shape", "7, *y.shape  # (7, B)")
    assert [comment.text for comment in shapes.read(inside) if comment.unusable] == ["(B, n)", "(7, B)"]


def test_lines_that_no_case_runs(made_up, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment on a line that never runs may be anything: it is a problem."""
    monkeypatch.setitem(globals(), "CASES", CASES.replace("check.module(d_in=3, d_out=6)(rng.normal(4, 3))", "pass"))
    (problem,) = made_up()
    assert "`# (7, n, d_out)`: no case runs this line" in problem


def test_sizes_that_happen_to_agree(made_up, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment that holds only because two sizes are equal in every case is not believed."""
    alike = CASES.replace('[(2, 3), pytest.param(3, 2, id="other")]', "[(2, 2), (3, 3)]")
    monkeypatch.setitem(globals(), "CASES", alike)
    found = made_up(tokens="(H, S, B, d_head)")
    assert any("no case shows that H is a size of its own there, distinct from B" in problem for problem in found)


def test_a_reference_that_fails_its_own_case(made_up, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that the reference cannot run is told with its name."""
    monkeypatch.setitem(globals(), "CASES", CASES.replace("RuntimeError", "ValueError"))
    (problem,) = made_up()
    assert problem.startswith("test_refusal: the reference fails: expected ValueError, got RuntimeError")
