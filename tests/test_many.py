"""Many answers to one kata on one judge: each is graded as if it were alone."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.dev.answers import known_answers
from grader.session import Request, Session

KATA = catalog.find("masked-softmax")
KNOWN = {known.name: known.source for known in known_answers(KATA) if known.kind in ("reference", "mistake", "correct")}
SOURCES = KNOWN | {
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
    return {case["id"]: case["outcome"] for case in report["cases"] if not case["relied"]}


@pytest.mark.parametrize("name", SOURCES)
def test_one_of_many(session: Session, name: str) -> None:
    """The verdict, the outcome of each case that runs and the named mistake are those of a grading of its own."""
    request = Request(KATA.id, SOURCES[name], KATA.filename)
    many, alone = (session.grade(request, many=many) for many in (True, False))
    assert many["families"].keys() == alone["families"].keys()
    assert told(many) == told(alone)
    one, other = ran(many), ran(alone)
    assert len(one.keys() & other.keys()) > len(KATA.families)
    assert [case for case in one.keys() & other.keys() if one[case] != other[case]] == []
