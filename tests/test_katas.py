"""Every kata on disk: its stub fails in a friendly way, its reference passes, mistakes are rejected and named.

Correct styles accepted.
"""

from __future__ import annotations

import pytest

from grader import catalog
from grader.dev import files
from grader.dev.answers import Known, known_answers
from grader.session import Request, Session

KATAS = catalog.katas()
ANSWERS = [known for kata in KATAS.values() for known in known_answers(kata)]


def those(*kinds: str) -> pytest.MarkDecorator:
    chosen = [known for known in ANSWERS if known.kind in kinds]
    return pytest.mark.parametrize("known", chosen, ids=[f"{known.kata}-{known.name}" for known in chosen])


@pytest.fixture(scope="module")
def session():
    """One server for all gradings of this file."""
    with Session() as session:
        yield session


def grade(session: Session, known: Known, case: str = "", seed: int | None = None):
    return session.grade(Request(known.kata, known.source, KATAS[known.kata].filename, case=case, seed=seed))


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


@those("reference")
@pytest.mark.parametrize("seed", range(3))
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


@those("mistake")
def test_mistake(known: Known, session: Session) -> None:
    """Each mistake of the bank is rejected by a case of the family that it names, and is named."""
    report = grade(session, known, case=f"{known.family}/")
    assert report["verdict"] == "failed"
    assert known.mistake in [mistake["id"] for mistake in report["mistakes"]]


@those("wrong")
def test_wrong_answer(known: Known, session: Session) -> None:
    """Wrong answers that were written without looking at the cases are rejected, in the right family."""
    report = grade(session, known, case=f"{known.family}/")
    assert report["verdict"] == "failed"
