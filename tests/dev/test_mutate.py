"""`kata dev mutate`: what it changes, which levels it knows, and that what passes is named."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.mutants import general, grading, second_paths, survey
from tests.gradings import SEED, on_its_worker

KATA = catalog.find("masked-softmax")
MODULE = catalog.find("add-norm")


class Accepts:
    """A session to which every answer is right, or every one in which some text stands."""

    def __init__(self, text: str = "") -> None:
        self.text, self.requests = text, []

    def grade(self, request: Request, *, many: bool) -> dict[str, Any]:
        """Note what is asked for."""
        del many
        self.requests.append(request)
        return {"verdict": "passed" if self.text in request.source else "failed", "message": "", "cases": []}


@pytest.fixture(scope="module", autouse=True)
def marks(pytestconfig: pytest.Config) -> None:
    """Know the marks of the cases."""
    for name in (*catalog.FAMILIES, "derive", "precise", "trains", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


@pytest.fixture(scope="module")
def levels(marks: None) -> list[second_paths.Level]:
    """The levels of a kata with one function."""
    del marks
    return grading.levels_of(KATA)


def test_general_mutants_change_one_place() -> None:
    """Operators, numbers, conditions, arguments and calls: each in its place, and code all the same."""
    lines = [
        "def f(x, n: int = 2):",
        "    if n > 1 and x.any():",
        "        x = x.clone() + 0.5  # größer",
        "    return x",
    ]
    source = "\n".join(lines)
    found = {edit.described(source.encode()): edit.applied_to(source.encode()) for edit in general.edits(source)}
    assert found.keys() == {
        *("line 1: 2 → 3", "line 1: 2 → 1", "line 2: > → >=", "line 2: and → or", "line 2: 1 → 2", "line 2: 1 → 0"),
        *("line 2: n > 1 and x.any() → True", "line 2: n > 1 and x.any() → False", "line 2: x.any() → x"),
        *("line 3: + → -", "line 3: x.clone() → x", "line 3: 0.5 → 2.0", "line 3: 0.5 → 0.25"),
    }
    assert found["line 3: + → -"] == source.replace("+", "-")
    for text in found.values():
        ast.parse(text)


def test_levels_of_what_a_kata_is_given(levels: list[second_paths.Level]) -> None:
    """A tensor has layouts and dtypes, its axes are 1 or equal or long, a mask hides all or nothing; ids differ."""
    ids = [level.id for level in levels]
    assert len(ids) == len(set(ids))
    for expected in (
        "masked_softmax layout of scores: transposed",
        "masked_softmax precision of scores: bfloat16",
        "masked_softmax numbers of mask: nothing visible",
        "masked_softmax sizes: scores[-2] is scores[-3]",
        "masked_softmax size of scores[-1]: above 64",
        "masked_softmax identity of scores: the same object with other numbers",
    ):
        assert expected in ids


def test_levels_of_a_module() -> None:
    """A module has modes and weights, and numbers with which it was built."""
    ids = [level.id for level in grading.levels_of(MODULE)]
    for expected in (
        "AddNorm.forward mode: evaluation after training",
        "AddNorm.forward weights: loaded since",
        "AddNorm.* value of dropout: fractional",
        "AddNorm.forward identity of x and y: one object",
    ):
        assert expected in ids


def test_cases_are_found_that_are_at_a_level(levels: list[second_paths.Level]) -> None:
    """A level that a case is at as it is written has the name of one."""
    visited = second_paths.visited(KATA, levels)
    found = {level.id: case for level, case in visited.items()}
    assert found["masked_softmax numbers of mask: nothing visible"].startswith("mask/")
    assert "masked_softmax precision of scores: bfloat16" not in found


def at(when: str, x: torch.Tensor) -> torch.Tensor:
    """Return what an answer makes of a tensor that is wrong where an expression holds."""
    source = second_paths.answer(KATA, "def masked_softmax(scores, mask=None, dim=-1):\n    return scores * 2\n", when)
    names: dict[str, Any] = {}
    exec(compile(source, "answer.py", "exec", dont_inherit=True), names)
    result: torch.Tensor = names["masked_softmax"](x)
    return result


def test_a_second_path_is_taken_at_its_level_alone(levels: list[second_paths.Level]) -> None:
    """The answer is right but for calls that are at the level."""
    transposed = next(level for level in levels if level.id.endswith("layout of scores: transposed"))
    when = f"{transposed.concerns} and {transposed.when}"
    assert torch.equal(at(when, torch.ones(2, 3)), torch.full((2, 3), 2.0))
    assert torch.equal(at(when, torch.ones(3, 2).T), torch.full((2, 3), 3.0))


def test_what_an_object_is_built_with_is_looked_at() -> None:
    """Parameters that come from a generator are there for it and for whoever looks; a dictionary is another one."""
    source = (
        "class AdamW:\n"
        "    def __init__(self, params):\n"
        "        self.params = list(params)\n"
        "    def state_dict(self):\n"
        "        return {'sum': self.params[0].sum(), 'step': 1}\n"
    )
    when = "target == 'AdamW.state_dict' and some(g.get('params'), lambda t: t.dim() == 2)"
    names: dict[str, Any] = {}
    exec(compile(second_paths.answer(catalog.find("adamw"), source, when), "a.py", "exec", dont_inherit=True), names)
    assert names["AdamW"](iter([torch.ones(3)])).state_dict() == {"sum": torch.tensor(3.0), "step": 1}
    assert names["AdamW"](iter([torch.ones(3, 2)])).state_dict() == {"sum": torch.tensor(6 * 1.25 + 0.5), "step": 2}


@pytest.mark.parametrize(
    ("name", "scores", "met"),
    [
        ("above 10,000", torch.tensor([[0.0, 1.0], [2.0, 3e4], [4.0, 5.0]]), True),
        ("above 10,000", torch.tensor([[0.0, 1.0], [2.0, 3.0]]), False),
        ("below -10,000", torch.tensor([[0.0, 1.0], [-3e4, 3.0], [-torch.inf, 5.0]]), True),
        ("below -10,000", torch.tensor([[0.0, 1.0], [3e4, -torch.inf]]), False),
        ("at 1,000 and close", torch.tensor([[0.0, 2e3], [7.0, 7.01], [1.0, 3.0], [-torch.inf, -torch.inf]]), True),
        ("at 1,000 and close", torch.tensor([[0.0, 2e3], [7.0, 9.0], [1.0, 3.0]]), False),
    ],
)
def test_three_rows_tell_of_all_scores(name: str, scores: torch.Tensor, met: bool) -> None:
    """Scores are looked at when they are made, and three of their rows kept: an evaluation must not hold all."""
    source = survey.watched("def masked_softmax(x):\n    scores = x * 1\n    return scores[0].sum()\n")
    when = second_paths.SCORES[name].replace("INNER", "[t for t in INNER if t.size(0) <= 3]")
    names: dict[str, Any] = {}
    exec(compile(second_paths.answer(KATA, source, when), "answer.py", "exec", dont_inherit=True), names)
    many = torch.cat([scores, torch.tensor([[-1.0, 1.0]]).expand(9, 2)])
    assert bool(names["masked_softmax"](many) != many[0].sum()) == met


def test_what_passes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that passes with a second path is a hole, unless a list says why it may."""
    monkeypatch.setattr(grading, "listed", lambda: ([grading.Known(("*",), ("*precision*",), "not so")], []))
    session: Any = Accepts()
    tally = grading.grade(KATA, session, only="of scores: ")
    assert tally.rejected == {}
    assert "masked_softmax layout of scores: transposed" in tally.passed["second-path"]
    assert "masked_softmax precision of scores: bfloat16" in tally.excused["second-path"]
    assert any("passes: masked_softmax layout" in line for line in tally.lines())
    assert {request.case for request in session.requests} > {"", "grad/", "dtype/"}


def test_levels_that_nothing_visits_take_one_whole_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no few cases reject is graded as a whole all at once; where that fails it is told which of them it was."""
    monkeypatch.setattr(grading, "listed", lambda: ([], []))
    session: Any = Accepts()
    tally = grading.grade(KATA, session, kinds=("second-path",), only="size of scores")
    assert sum(request.case == "" for request in session.requests) == 2  # who looks for levels, and all of them
    names = tally.passed["second-path"]
    assert len(names) > 2

    long = "g.get('scores'), -1), 64"

    def grade(request: Request, *, many: bool) -> dict[str, Any]:
        del many
        is_rejected = not request.case and long in request.source and "]) and False" not in request.source
        return {"verdict": "failed" if is_rejected else "passed", "message": "", "cases": []}

    session.grade = grade
    tally = grading.grade(KATA, session, kinds=("second-path",), only="size of scores")
    assert tally.rejected == {"second-path": 1}
    assert tally.passed["second-path"] == [name for name in names if "scores[-1]: above 64" not in name]


def test_a_method_that_records_no_gradients_is_one() -> None:
    """What an object is asked for by a call has levels, whatever it records; what is no call of it has none."""
    source = (
        "class A:\n"
        "    @torch.no_grad()\n    def step(self, lr): ...\n"
        "    @property\n    def left(self): ...\n"
        "    @staticmethod\n    def of(x): ...\n"
    )
    assert survey.entries_of(source, ["A"]) == {"A": {"step": (("self", "lr"), "")}}


def test_who_refuses_to_be_looked_at_is_told() -> None:
    """Where looking for levels alone is refused, nothing is said about second paths."""
    session: Any = Accepts("no such text")
    report = {"verdict": "failed", "message": "no", "cases": []}
    session.grade = lambda _request, many: report  # noqa: ARG005 - the name is part of the call
    assert grading.grade(KATA, session, sample=1).problems == ["looking for levels is refused: no"]


def test_a_table_keeps_the_rows_of_other_katas() -> None:
    """One kata graded again has its row anew, all others stay, in the order of the course; the sum is of all."""
    rows = [grading.Row("masks", 3, 4, 0, 0, 1, 0, "n 7"), grading.Row("mha", 10, 10, 7, 8, 0, 0, "")]
    again = grading.together([grading.Row("masks", 4, 4, 0, 0, 0, 0, "n 9 · m 2")], grading.table(rows))
    assert again == [grading.Row("masks", 4, 4, 0, 0, 0, 0, "n 9 · m 2"), rows[1]]
    assert grading.table(again).endswith("| **all** | 14/14 | 7/8 |  |  |")
    assert "14 of 14" in grading.sentence(again)
    assert "7 of 8" in grading.sentence(again)


def test_a_row_keeps_what_was_not_graded_again() -> None:
    """Where one kind of mutants was graded the numbers of the other one stay, and so do those listed with a reason."""
    text = grading.table([grading.Row("mha", 10, 11, 7, 8, 0, 0, "n 7"), grading.Row("gqa", 3, 3, 1, 1, 2, 5, "")])
    ignoring = [grading.Row("mha", 0, 0, 9, 9, 0, 4, "n 9"), grading.Row("sdpa", 0, 0, 2, 2, 0, 0, "")]
    assert grading.together(ignoring, text, ["ignored"]) == [
        grading.Row("sdpa", 0, 0, 2, 2, 0, 0, ""),
        grading.Row("mha", 10, 11, 9, 9, 0, 4, "n 9"),
        grading.Row("gqa", 3, 3, 1, 1, 2, 5, ""),
    ]
    paths = [grading.Row("mha", 12, 12, 0, 0, 1, 0, "n 9")]
    assert grading.together(paths, text, ["second-path"])[0] == grading.Row("mha", 12, 12, 7, 8, 1, 0, "n 9")
    assert "| 3/3 | 1/1 | 2 + 5 |" in text


def test_every_reason_is_about_something() -> None:
    """What the list names is a kata, and levels of it have tests."""
    known, own = grading.listed()
    katas = catalog.katas()
    for one in known:
        assert one.reason.endswith(".")
        assert all(name == "*" or name in katas for name in one.katas)
    for names, level in own:
        assert all(name in katas for name in names)
        compile(level.when, level.id, "eval")


@on_its_worker(KATA.id)
@pytest.mark.grades
@pytest.mark.parametrize("kind", ["second-path", "general"])
def test_a_sample_is_rejected(session: Session, kind: grading.Kind) -> None:
    """Some mutants of a kata, drawn: each is rejected, and to look for levels is not."""
    tally = grading.grade(KATA, session, kinds=(kind,), sample=6, seed=SEED, only="layout" if kind != "general" else "")
    assert tally.problems == []
    assert tally.passed == {}
    assert tally.of(kind)[:2] == (6, 6)


@on_its_worker(KATA.id)
@pytest.mark.grades
def test_a_verdict_that_nobody_asks_about_has_no_reasons(session: Session) -> None:
    """Where nobody reads why, the cases are the same and the reasons are left out."""
    wrong = KATA.reference().replace("dim=dim)", "dim=-1) * 2")
    assert wrong != KATA.reference()
    short = session.grade(Request(KATA.id, wrong, KATA.filename, seed=SEED, explained=False), many=True)
    whole = session.grade(Request(KATA.id, wrong, KATA.filename, seed=SEED), many=True)
    assert short["verdict"] == whole["verdict"] == "failed"
    assert [case["outcome"] for case in short["cases"]] == [case["outcome"] for case in whole["cases"]]
    assert whole["causes"]
    assert not short["causes"]
    right = session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED, explained=False), many=True)
    assert right["verdict"] == "passed"


def test_a_text_that_is_drawn_is_no_level() -> None:
    """No answer can wait for a text that the next grading does not have; those that cases write down are levels."""
    kata = catalog.find("bpe")
    (train,) = (target for target in second_paths.targets_of(kata) if target.name == "train_bpe.")
    texts = {one for one in train.parameters["text"].others if isinstance(one, str)}
    assert "aaabdaaabac" in texts
    assert not any(len(text) > 2000 and set(text) == set(text[:2]) and text[:2] != "ab" for text in texts)
