"""Every kata on disk: its stub fails in a friendly way, its reference passes, mistakes are rejected and named.

Correct styles accepted.
"""

from __future__ import annotations

import itertools
import random
from contextlib import suppress

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.dev import files
from grader.dev.answers import Known, known_answers
from grader.judge.explain.mistakes import load

SEED = 2017
"""One seed for all: what fails here fails again. `kata dev check` draws others."""
KATAS = catalog.katas()
ANSWERS = [known for kata in KATAS.values() for known in known_answers(kata)]


def those(*kinds: str) -> pytest.MarkDecorator:
    chosen = [known for known in ANSWERS if known.kind in kinds]
    return pytest.mark.parametrize("known", chosen, ids=[f"{known.kata}-{known.name}" for known in chosen])


def grade(session: Session, known: Known, case: str = "", seed: int | None = None):
    """Grade an answer, on inputs that were prepared unless there is a seed."""
    used = SEED if seed is None else seed
    request = Request(known.kata, known.source, KATAS[known.kata].filename, case=case, seed=used)
    return session.grade(request, many=seed is None)


@pytest.mark.parametrize("kata", KATAS.values(), ids=KATAS)
def test_files(kata) -> None:
    """Both briefs name every entry point, there are enough hints and mistakes.

    Stub and reference have the same signatures.
    """
    assert list(files.problems(kata)) == []


@those("stub")
def test_stub(known: Known, session: Session) -> None:
    """A stub fails with one sentence that says that nothing is written yet."""
    report = grade(session, known)
    assert report["verdict"] == "failed"
    assert report["message"] == "nothing is written yet: the stub still raises NotImplementedError"


# What trains does the same with every seed, and takes its time.
REFERENCES = [known for known in ANSWERS if known.kind == "reference"]


@pytest.mark.parametrize(
    ("known", "seed"),
    [(known, seed) for known in REFERENCES for seed in range(1 if KATAS[known.kata].continues else 2)],
    ids=lambda value: value.kata if isinstance(value, Known) else str(value),
)
def test_reference(known: Known, seed: int, session: Session) -> None:
    """The model answer passes every case of every family that its kata lists, on several seeds.

    And carries no diagnosis.
    """
    report = grade(session, known, seed=seed)
    assert report["verdict"] == "passed", [case for case in report["cases"] if case["outcome"] != "passed"][:2]
    assert list(report["families"]) == list(KATAS[known.kata].families)
    assert report["mistakes"] == []


@those("correct")
def test_correct_style(known: Known, session: Session) -> None:
    """A correct answer in another style passes."""
    report = grade(session, known)
    assert report["verdict"] == "passed", [case for case in report["cases"] if case["outcome"] != "passed"][:2]
    assert report["mistakes"] == []


TWINS = {"positional-encoding": {"table-left-behind", "table-made-on-cpu"}}
"""Mistakes that do the same on every input of some family: both are named."""


@those("mistake")
def test_mistake(known: Known, session: Session) -> None:
    """Each mistake of the bank is rejected by a case of the family that it names, and is named, alone and first."""
    report = grade(session, known, case=f"{known.family}/")
    assert report["verdict"] == "failed"
    ids = [mistake["id"] for mistake in report["mistakes"]]
    twins = TWINS.get(known.kata, set())
    assert ids == [known.mistake] or (known.mistake in twins and known.mistake in ids and set(ids) <= twins)


def test_few_mistakes_have_twins() -> None:
    """At least 97 of a hundred mistakes are named alone."""
    bank = [known for known in ANSWERS if known.kind == "mistake"]
    assert sum(map(len, TWINS.values())) <= 0.03 * len(bank)


@those("wrong")
def test_wrong_answer(known: Known, session: Session) -> None:
    """Wrong answers that were written without looking at the cases are rejected, in the right family.

    Their second line is the table of who is blamed: what it names comes first, or nothing is named.
    """
    report = grade(session, known, case=f"{known.family}/")
    assert report["verdict"] == "failed"
    assert [mistake["id"] for mistake in report["mistakes"]][:1] in ([known.mistake], [])


def compatible_pairs(kata, number: int) -> list[tuple[str, str, str]]:
    """Draw pairs of mistakes that can stand in one file, and are no third one then: their names, and the file."""
    bank, chance, found = load(kata), random.Random(f"pairs of {kata.id}"), []
    singles = {mistake.applied_to(kata.reference()) for mistake in bank}
    for first, second in chance.sample(list(itertools.combinations(bank, 2)), k=len(bank) * (len(bank) - 1) // 2):
        if len(found) == number:
            break
        with suppress(ValueError, SyntaxError):
            source = second.applied_to(first.applied_to(kata.reference()))
            compile(source, kata.filename, "exec")
            if source in singles:
                continue
            found.append((first.id, second.id, source))
    return found


PAIRS = 1
"""Of each kata; `pytest tests/test_katas.py --pairs 10` tries more."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw the pairs."""
    if "pair" in metafunc.fixturenames:
        number = metafunc.config.getoption("pairs") or PAIRS
        drawn = [(kata, pair) for kata in KATAS.values() for pair in compatible_pairs(kata, number)]
        metafunc.parametrize(("kata", "pair"), drawn, ids=[f"{kata.id}-{pair[0]}-{pair[1]}" for kata, pair in drawn])


def test_two_mistakes_at_once(kata, pair: tuple[str, str, str], session: Session) -> None:
    """One of two mistakes that come together is among the first two that are named."""
    first, second, source = pair
    report = session.grade(Request(kata.id, source, kata.filename, seed=SEED), many=True)
    assert report["verdict"] == "failed"
    assert {first, second} & {mistake["id"] for mistake in report["mistakes"][:2]}
