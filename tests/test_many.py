"""Many answers to one kata on one judge: each is graded as if it were alone."""

from __future__ import annotations

import os
import re

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import known_answers
from grader.judge.runs.batches import FEW_ARE_ENOUGH
from grader.judge.workers.answer import MOST_DEATHS
from grader.judge.workers.keeper_client import WORKERS
from grader.sandbox import limits
from grader.server.keeper import descendants
from tests.gradings import SEED, on_its_worker

KATA = catalog.find("masked-softmax")
pytestmark = on_its_worker(KATA.id)
KNOWN = [known for known in known_answers(KATA) if known.kind != "stub"]
FAILS = KATA.reference().replace("weights.masked_fill(~mask, 0.0)", "weights")
SAMPLE = {known.name: known.source for known in KNOWN[::7]}
SOURCES = SAMPLE | {
    "does not compile": "def masked_softmax(:\n",
    "raises at import": "raise RuntimeError('not today')\n",
    "leaves at import": "import os\n\nos._exit(3)\n",
    "dies in a call": "import os\n\n\ndef masked_softmax(scores, mask=None, dim=-1):\n    os._exit(3)\n",
    "empty": "",
    "wipes its input": KATA.reference().replace("return weights", "scores.zero_()\n    return weights"),
}


@pytest.fixture(scope="module")
def session(session: Session) -> Session:
    """A server whose judge has begun with many answers already, so that it grades with a plan."""
    session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED), many=True)
    return session


def told(report):
    """Return what a learner is told, without what differs from run to run."""
    return report["verdict"], report["message"], [mistake["id"] for mistake in report["mistakes"]]


def ran(report):
    """Return what came of each case that ran: of many answers, fewer do."""
    return {case["id"]: case["outcome"] for case in report["cases"] if case["outcome"] != "skipped"}


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.one_of_many(of=4)) for name in SAMPLE),
        *(name for name in SOURCES if name not in SAMPLE),
    ],
)
def test_one_of_many(session: Session, name: str) -> None:
    """The verdict, the outcome of each case that runs and the named mistake are those of a grading of its own."""
    request = Request(KATA.id, SOURCES[name], KATA.filename, seed=SEED)
    many, alone = (session.grade(request, many=many) for many in (True, False))
    assert many["families"].keys() == alone["families"].keys()
    assert told(many) == told(alone)
    one, other = ran(many), ran(alone)
    assert bool(one) == bool(other)
    assert one.keys() & other.keys() or not one, "only a file that does not load runs no case"
    assert [case for case in one.keys() & other.keys() if one[case] != other[case]] == []


def test_nobody_meets_what_another_has_changed(session: Session) -> None:
    """All get the same inputs, unpacked once for all; what an answer does to them is its own affair."""
    for _twice in range(2):
        wiped = session.grade(Request(KATA.id, SOURCES["wipes its input"], KATA.filename, seed=SEED), many=True)
        assert "modified" in {case["kind"] for case in wiped["cases"] if case["outcome"] == "failed"}
        right = session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED), many=True)
        assert right["verdict"] == "passed"


def test_what_dies_again_and_again_is_given_up(session: Session) -> None:
    """Each death costs a sandbox; after a dozen of them nothing is learnt from another."""
    report = session.grade(Request(KATA.id, SOURCES["dies in a call"], KATA.filename, seed=SEED))
    outcomes = [case["outcome"] for case in report["cases"]]
    assert report["verdict"] == "failed"
    assert 3 < outcomes.count("crashed") <= 4 * MOST_DEATHS
    assert set(outcomes) == {"crashed", "skipped"}
    left_out = next(case["message"] for case in report["cases"] if case["outcome"] == "skipped")
    told = re.search(r"(\d+) cases; the others are left out", left_out)
    assert told is not None, left_out
    on_their_way = len(WORKERS) - 1  # the other workers' cases were asked before the last of a dozen ended
    assert MOST_DEATHS <= int(told[1]) <= MOST_DEATHS + on_their_way


def test_a_failed_answer_is_asked_less(session: Session) -> None:
    """Its verdict is certain: of each variant a few runs show whether there is something new."""
    failed = session.grade(Request(KATA.id, FAILS, KATA.filename, seed=SEED), many=True)
    passed = session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED), many=True)
    assert (failed["verdict"], passed["verdict"]) == ("failed", "passed")
    assert {case["id"] for case in failed["cases"]} == {case["id"] for case in passed["cases"]}
    assert 4 < len(ran_derived(failed)) < len(ran_derived(passed))
    for variant in ("[float16]", "[bfloat16]"):
        assert 0 < len(ran_derived(failed, variant)) <= FEW_ARE_ENOUGH


@pytest.mark.parametrize(
    ("family", "bug"),
    [
        ("dtype", "scores = scores.float() if scores.dtype == torch.float16 else scores"),
        ("grad", "scores = scores.detach()"),
        ("device", "scores = scores.cpu()"),
    ],
)
def test_a_second_bug_of_a_failed_answer(session: Session, family: str, bug: str) -> None:
    """What is wrong in a variant besides is found, and then all of its cases run."""
    source = FAILS.replace("    if ", f"    {bug}\n    if ", 1)
    assert source != FAILS
    request = Request(KATA.id, source, KATA.filename, seed=SEED)
    many, alone = (new_in(session.grade(request, many=many), family) for many in (True, False))
    assert many == alone != set()


def new_in(report, family):
    """Return the cases of a family that fail although what they are derived from passes."""
    passed = [case["id"] for case in report["cases"] if case["outcome"] == "passed"]
    fine = {case.partition("/")[2] for case in passed if case.startswith(("core/", "mask/"))}
    failed = [case["id"] for case in report["cases"] if case["family"] == family and case["outcome"] == "failed"]
    return {case for case in failed if case.partition("/")[2].partition("[")[0] in fine}


def test_a_changed_input_says_nothing_of_the_variants(session: Session) -> None:
    """It is seen in the run of the case itself; what is derived from it passes as far as it runs."""
    source = KATA.reference().replace("masked_scores = scores.masked_fill(", "masked_scores = scores.masked_fill_(")
    assert source != KATA.reference()
    request = Request(KATA.id, source, KATA.filename, seed=SEED)
    many, alone = (session.grade(request, many=many) for many in (True, False))
    assert many["verdict"] == "failed"
    one, other = ran(many), ran(alone)
    assert [case for case in one.keys() & other.keys() if one[case] != other[case]] == []
    for family in ("dtype", "grad", "device"):
        assert "passed" in {outcome for case, outcome in one.items() if case.startswith(family)}


def ran_derived(report, variant=""):
    """Return the derived cases that ran, or those of a variant."""
    ran = [case for case in report["cases"] if case["outcome"] != "skipped"]
    derived = [case for case in ran if case["family"] in ("dtype", "grad", "device")]
    return [case for case in derived if case["id"].endswith(variant)]


@pytest.mark.one_of_many(of=4)
@pytest.mark.skipif(not limits.LINUX, reason="reads /proc")
def test_memory_stays_flat(session: Session) -> None:
    """What a judge makes in a grading does not stay: cycles are collected, too."""

    def after(gradings: int) -> dict[int, int]:
        for _grading in range(gradings):
            session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED), many=True)
        return {pid: limits.resident_bytes(pid) for pid in descendants(os.getpid())}

    early, late = after(10), after(20)
    stayed = early.keys() & late.keys()
    assert stayed
    assert max(late[pid] - early[pid] for pid in stayed) < 8 << 20
