"""Operations that travel together are judged as if each had been asked for by itself, whatever happens on the way."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session

pytestmark = [pytest.mark.grades, pytest.mark.xdist_group("together")]

KATA = catalog.find("masked-softmax")
SEED = 2017
BEGINNING = "def masked_softmax(scores, mask=None, dim=-1):\n"
MODEL = KATA.reference().replace("def masked_softmax", "def _model")
SOURCES = {
    "ends its process": "    if scores.dim() == 4:\n        os._exit(3)\n",
    "cannot be sent": "    if scores.dim() == 4:\n        return 10**5000\n",
    "raises": "    if scores.dim() == 4:\n        raise ValueError(f'{scores.dim()} of them')\n",
    "far too large": "    if scores.dim() == 4:\n        return [torch.zeros(1 << 22)] * 8\n",
    "many tensors": "    if scores.dim() == 4:\n        return [torch.zeros(1)] * 300\n",
    "takes its time": "    if scores.shape == (5,) and scores.dtype == torch.float32:\n        time.sleep(0.6)\n",
    "loops for ever": "    while scores.shape == (5,) and scores.dtype == torch.float32:\n        pass\n",
}


@pytest.fixture(scope="module")
def session():
    """A server whose judge has made a plan for the inputs of one seed."""
    with Session(call_seconds=2.0) as session:
        session.grade(Request(KATA.id, KATA.reference(), KATA.filename, seed=SEED), many=True)
        yield session


def source_of(body: str) -> str:
    """Return an answer that does something before it does what the reference does."""
    return f"import os\nimport time\n\n{MODEL}\n\n{BEGINNING}{body}    return _model(scores, mask, dim)\n"


def graded(session: Session, source: str, *, together: bool) -> dict[str, dict]:
    """Return the cases that ran: with a plan, or without one, where each operation is asked for by itself."""
    request = Request(KATA.id, source, KATA.filename, seed=SEED if together else SEED + 1)
    cases = session.grade(request)["cases"]
    return {case["id"]: case for case in cases if case["outcome"] != "skipped"}


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", SOURCES)
def test_what_one_call_does_to_the_others(session: Session, name: str) -> None:
    """A call that ends the process, hangs or cannot be answered costs its own case only."""
    source = source_of(SOURCES[name])
    together, apart = (graded(session, source, together=together) for together in (True, False))
    both = together.keys() & apart.keys()
    assert len(both) > 30
    for case in both:
        for part in ("outcome", "kind", "line"):
            assert together[case][part] == apart[case][part], case
    if name not in ("takes its time", "loops for ever"):
        assert {case["outcome"] for case in together.values()} > {"passed"}


def test_what_each_call_prints(session: Session) -> None:
    """What was printed stands with the case in which it was printed."""
    source = source_of("    print(f'{scores.dim()} axes')\n    if scores.dim() in (3, 4):\n        raise ValueError\n")
    together, apart = (graded(session, source, together=together) for together in (True, False))
    failed = [case for case in together if case in apart and together[case]["outcome"] == "failed"]
    assert {together[case]["printed"] for case in failed} >= {"3 axes\n", "4 axes\n"}
    assert [case for case in failed if together[case]["printed"] != apart[case]["printed"]] == []
