"""Every kata on disk: its stub fails in a friendly way, its reference passes, mistakes are rejected and named.

Correct styles accepted. Each answer is a test; those of a kata follow each other, since its judge and what that has
prepared serve them all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from grader import catalog
from grader.catalog import Kata
from grader.client.session import Request, Session
from grader.dev import files
from grader.dev.answers import Known
from grader.judge.explain.mistakes import load
from tests.conftest import KATAS_A_DAY, SHARES
from tests.gradings import SEED, answers_of, of_kata

KATAS = catalog.katas()
TWINS = {"positional-encoding": {"table-left-behind", "table-made-on-cpu"}}
"""Mistakes that do the same on every input of some family: both are named."""
PAIRS = 1
"""Of each kata; `pytest tests/test_katas.py --pairs 10` tries more."""
OTHER_SEED = 0

Report = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """An answer, what must come of it, and on which inputs: prepared ones unless they are those of another seed."""

    known: Known
    holds: Callable[[Known, Report], None]
    name: str
    seed: int = SEED

    @property
    def shares(self) -> int:
        """One of how many days it has: references, with the inputs that others have, come whenever their kata does."""
        return SHARES if self.known.kind != "reference" or self.seed == OTHER_SEED else KATAS_A_DAY

    def graded(self, session: Session) -> Report:
        """Grade it: the family that must reject it has to do so alone."""
        known = self.known
        case = f"{known.family}/" if known.family else ""
        request = Request(known.kata, known.source, KATAS[known.kata].filename, case=case, seed=self.seed)
        report = session.grade(request, many=self.seed == SEED)
        assert report["unexplained"] == ""
        return report


def stub(_known: Known, report: Report) -> None:
    """A stub fails with one sentence that says that nothing is written yet."""
    assert report["verdict"] == "failed"
    assert report["message"] == "nothing is written yet: the stub still raises NotImplementedError"


def reference(known: Known, report: Report) -> None:
    """The model answer passes every case of every family that its kata lists, on several seeds.

    And carries no diagnosis.
    """
    correct_style(known, report)
    assert list(report["families"]) == list(KATAS[known.kata].families)


def correct_style(_known: Known, report: Report) -> None:
    """A correct answer in another style passes."""
    assert report["verdict"] == "passed", [case for case in report["cases"] if case["outcome"] != "passed"][:2]
    assert report["mistakes"] == []


def mistake(known: Known, report: Report) -> None:
    """Each mistake of the bank is rejected by a case of the family that it names, and is named, alone and first."""
    assert report["verdict"] == "failed"
    assert not [case["message"] for case in report["cases"] if case["message"].startswith("NameError")]
    ids = [mistake["id"] for mistake in report["mistakes"]]
    twins = TWINS.get(known.kata, set())
    assert ids == [known.mistake] or (known.mistake in twins and known.mistake in ids and set(ids) <= twins)


def wrong_answer(known: Known, report: Report) -> None:
    """Wrong answers that were written without looking at the cases are rejected, in the right family.

    Their second line is the table of who is blamed: what it names comes first, or nothing is named.
    """
    assert report["verdict"] == "failed"
    assert [mistake["id"] for mistake in report["mistakes"]][:1] in ([known.mistake], [])


def two_mistakes(known: Known, report: Report) -> None:
    """One of two mistakes that come together is among the first two that are named."""
    assert report["verdict"] == "failed"
    assert set(known.mistake.split("+")) & {mistake["id"] for mistake in report["mistakes"][:2]}


HOLDS = {"stub": stub, "reference": reference, "correct": correct_style, "mistake": mistake, "wrong": wrong_answer}


def trials_of(kata: Kata, pairs: int) -> Iterator[Trial]:
    """Yield all that is tried of a kata; what has inputs of its own comes last, since it needs all anew."""
    for known in answers_of(kata.id):
        yield Trial(known, HOLDS[known.kind], f"{kata.id}-{known.kind}-{known.name}")
    for known in compatible_pairs(kata, pairs):
        yield Trial(known, two_mistakes, f"{kata.id}-{known.name}")
    if not kata.continues:  # what trains does the same with every seed, and takes its time
        known = Known(kata.id, "reference", "reference", kata.reference())
        yield Trial(known, reference, f"{kata.id}-reference-{OTHER_SEED}", OTHER_SEED)


def compatible_pairs(kata: Kata, number: int) -> Iterator[Known]:
    """Draw pairs of mistakes that can stand in one file, and are no third one then: their names, and the file."""
    bank, chance, found = load(kata), random.Random(f"pairs of {kata.id}"), 0
    singles = {mistake.applied_to(kata.reference()) for mistake in bank}
    for first, second in chance.sample(list(itertools.combinations(bank, 2)), k=len(bank) * (len(bank) - 1) // 2):
        if found == number:
            break
        with suppress(ValueError, SyntaxError):
            source = second.applied_to(first.applied_to(kata.reference()))
            compile(source, kata.filename, "exec")
            if source in singles:
                continue
            found += 1
            ids = first.id, second.id
            yield Known(kata.id, "wrong", "-".join(ids), source, mistake="+".join(ids))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let each answer be a test, those of a kata together."""
    if "trial" in metafunc.fixturenames:
        pairs = metafunc.config.getoption("pairs") or PAIRS
        trials = [trial for kata in KATAS.values() for trial in trials_of(kata, pairs)]
        metafunc.parametrize(
            "trial",
            [of_kata(trial.known.kata, trial, name=trial.name, shares=trial.shares) for trial in trials],
        )


@pytest.mark.one_of_many
@pytest.mark.parametrize("kata", KATAS.values(), ids=KATAS)
def test_files(kata: Kata) -> None:
    """Both briefs name every entry point, there are enough hints and mistakes.

    Stub and reference have the same signatures.
    """
    assert list(files.problems(kata)) == []


def test_answer(trial: Trial, session: Session) -> None:
    """Every known answer is judged as it must be, each kind as the function of its name here says."""
    trial.holds(trial.known, trial.graded(session))


def test_few_mistakes_have_twins() -> None:
    """At least 97 of a hundred mistakes are named alone."""
    bank = [mistake for kata in KATAS.values() for mistake in load(kata)]
    assert sum(map(len, TWINS.values())) <= 0.03 * len(bank)
