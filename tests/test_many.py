"""Many answers to one kata on one judge: each is graded as if it were alone."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.dev.answers import known_answers
from grader.judge.lanes import MOST_DEATHS
from grader.session import Request, Session

KATA = catalog.find("masked-softmax")
KNOWN = [known for known in known_answers(KATA) if known.kind != "stub"]
SOURCES = {known.name: known.source for known in KNOWN[::7]} | {
    "does not compile": "def masked_softmax(:\n",
    "raises at import": "raise RuntimeError('not today')\n",
    "leaves at import": "import os\n\nos._exit(3)\n",
    "dies in a call": "import os\n\n\ndef masked_softmax(scores, mask=None, dim=-1):\n    os._exit(3)\n",
    "empty": "",
}


@pytest.fixture(scope="module")
def session():
    """A server whose judge has begun with many answers already, so that it grades with a plan."""
    with Session() as session:
        session.grade(Request(KATA.id, KATA.reference(), KATA.filename), many=True)
        yield session


def told(report):
    """Return what a learner is told, without what differs from run to run."""
    return report["verdict"], report["message"], [mistake["id"] for mistake in report["mistakes"]]


def ran(report):
    """Return what came of each case that ran: of many answers, fewer do."""
    found = {case["id"]: case["outcome"] for case in report["cases"] if not case["relied"]}
    return {case: outcome for case, outcome in found.items() if outcome != "skipped"}


@pytest.mark.parametrize("name", SOURCES)
def test_one_of_many(session: Session, name: str) -> None:
    """The verdict, the outcome of each case that runs and the named mistake are those of a grading of its own."""
    request = Request(KATA.id, SOURCES[name], KATA.filename)
    many, alone = (session.grade(request, many=many) for many in (True, False))
    assert many["families"].keys() == alone["families"].keys()
    assert told(many) == told(alone)
    one, other = ran(many), ran(alone)
    assert one.keys() & other.keys()
    assert [case for case in one.keys() & other.keys() if one[case] != other[case]] == []


def test_what_dies_again_and_again_is_given_up(session: Session) -> None:
    """Each death costs a sandbox; after a dozen of them nothing is learnt from another."""
    report = session.grade(Request(KATA.id, SOURCES["dies in a call"], KATA.filename))
    outcomes = [case["outcome"] for case in report["cases"]]
    assert report["verdict"] == "failed"
    assert 3 < outcomes.count("crashed") <= 4 * MOST_DEATHS
    assert set(outcomes) == {"crashed", "skipped"}
    assert "12 cases; the others are left out" in next(
        c["message"] for c in report["cases"] if c["outcome"] == "skipped"
    )
