"""Which two mistakes are tried together, and what the known ones remember before there is an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.catalog import Kata
from grader.judge.cases.case import Case
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading, Reference
from grader.judge.explain import reproduce
from grader.judge.explain.bank import Bank
from grader.judge.explain.few import FAILING_PER_FAMILY, MOST_CALLS, looked_at_first
from grader.judge.explain.pairs import MOST_INTERACTING, Alone, conceivable
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.recorder import record
from grader.judge.runs.recording import Recording
from grader.judge.workers.backend import loaded
from tests.judge.test_mistakes import GOOD


def mistake(passes: str, does_it: str, raises: str = "  ", elsewhere: str = "y") -> Alone:
    """Return what a mistake does by itself at two failing cases and at one that passed: yes, no, or not known."""
    known = {"y": True, "n": False, " ": None}
    return Alone(*([known[letter] for letter in letters] for letters in (passes, does_it, raises, elsewhere)))


WRONG = mistake("nn", "nn")


@pytest.mark.parametrize(
    ("first", "second", "tried"),
    [
        (WRONG, WRONG, "with"),
        (mistake("yn", "nn"), mistake("ny", "nn"), "beside"),
        (mistake("yn", "ny"), mistake("ny", "yn"), "with"),
        (mistake("yn", "nn"), mistake("yn", "nn"), "no"),
        (mistake("yn", "nn"), mistake("nn", "yn"), "with"),
        (mistake("yn", "nn"), WRONG, "beside"),
        (mistake(" n", "nn"), mistake(" n", "nn"), "with"),
        (mistake("nn", "nn", "n "), mistake("nn", "nn", "n "), "no"),
        (mistake("nn", "nn", "n "), mistake("nn", "nn", "y "), "with"),
        (WRONG, mistake("nn", "nn", elsewhere="n"), "no"),
        (mistake("nn", "nn", elsewhere="n"), mistake("nn", "nn", elsewhere="n"), "with"),
    ],
)
def test_two_are_tried_where_each_by_itself_allows_it(first: Alone, second: Alone, tried: str) -> None:
    """Beside one that passes a case the other one does it there; else something else would have to come out."""
    for one, two in ((first, second), (second, first)):
        assert one.may_do_it_with(two) == (tried == "with")
        assert one.may_interact_with(two) == (tried != "no")


def test_what_only_something_new_could_explain_comes_last() -> None:
    """And not often."""

    class Named:
        def __init__(self, name: str) -> None:
            self.id = name

    one, two, three = map(Named, ("passes", "wrong", "does"))
    by_itself = {"passes": mistake("yn", "nn"), "wrong": WRONG, "does": mistake("nn", "yn")}
    pairs: Any = [(one, two)] * (MOST_INTERACTING + 5) + [(one, three)]
    found: Any = list(conceivable(iter(pairs), by_itself.__getitem__))
    assert found == [(one, three), *[(one, two)] * MOST_INTERACTING]


def test_mistakes_remember_what_no_answer_changes(
    make_kata: Callable[..., Kata], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done ahead is not done again when an answer fails; other inputs are other calls."""

    def scaled(check: Any, rng: Any) -> None:
        check["scaled"](rng.normal(3))

    reference = Reference(make_kata(mistakes=GOOD))
    run = Run(CaseOutcome(Case("test_it", "", "", "core", 0, scaled), Variant("core")), number=1)
    recording = record(run, Grading(reference, 5), loaded(reference.text, "reference.py"))
    bank = Bank(reference)
    assert len(list(bank.rehearsed(5, [recording]))) == len(bank.singles()) == 1
    done: list[Any] = []
    reply_of = reproduce.reply_of
    monkeypatch.setattr(reproduce, "reply_of", lambda *asked: (done.append(asked), reply_of(*asked))[1])
    ((_mistake, trebled),) = bank.singles()
    (response,) = trebled.remembered(5, recording.exchanges, looked=False)
    assert not done
    assert response.reply["kind"] == "value"
    list(trebled.remembered(6, recording.exchanges, looked=False))
    assert len(done) == 1


def test_which_runs_are_looked_at_first() -> None:
    """Of each family those that are no variant of another case, and none that asks for much or that looks."""

    def run(
        number: int, family: str, *, derived: bool = False, calls: int = 1, straight: bool = True
    ) -> tuple[Run, Recording]:
        case = Case(f"test_{number}", "", "", "core" if derived else family, number, lambda: None)
        exchanges: Any = [object()] * calls
        recording = Recording(Variant("core").dtype, exchanges=exchanges, is_straight=straight)
        return Run(CaseOutcome(case, Variant(family)), number=number), recording

    runs = [
        run(1, "grad", derived=True),
        run(2, "core", calls=MOST_CALLS + 1),
        run(3, "core", straight=False),
        *(run(number, "core") for number in range(4, 4 + FAILING_PER_FAMILY)),
        run(8, "core"),
        run(9, "grad"),
    ]
    found = looked_at_first([one for one, _ in runs], [recording for _, recording in runs])
    assert [next(one.number for one, its in runs if its is recording) for recording in found] == [4, 5, 6, 7, 9, 1]
