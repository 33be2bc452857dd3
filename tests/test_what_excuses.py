"""What excuses a case is the machine's, not the answer's: doctor and gradings know the same of it."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.sandbox import limits
from grader.server.keeper import children, descendants

pytestmark = [pytest.mark.grades, pytest.mark.xdist_group("excuses")]

KATA = catalog.find("masked-softmax")
IGNORES_THE_MASK = """
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        {}
    return torch.softmax(scores, dim)
"""
EXCUSES = {
    "ends where gradients begin": "torch.Tensor.backward = lambda *args, **kwargs: __import__('os')._exit(0)",
    "ends its process": "__import__('os')._exit(0)",
    "hangs": "while True: pass",
    "says that there is no device": (
        "__import__('sys').modules.get('grader.probes.simdevice', torch).available = lambda: 'not here'"
    ),
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A session whose calls have a second each."""
    with Session(call_seconds=1.0) as session:
        yield session


def test_doctor_knows_what_gradings_do(session: Session) -> None:
    """Doctor says of the simulated device what the gradings beside it find, as often as it is asked."""
    problems = {session.probe()["simulated_device"] for _time in range(4)}
    report = session.grade(Request(KATA.id, KATA.reference(), KATA.filename, case="device/"))
    assert problems == {""}
    assert {case["outcome"] for case in report["cases"]} == {"passed"}
    assert report["families"]["device"]["total"] > 10


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", EXCUSES)
@pytest.mark.parametrize("many", [False, True], ids=["alone", "many"])
def test_no_excuse(session: Session, name: str, many: bool) -> None:
    """An answer that ignores the mask fails, whatever it does where a mask comes or the device is asked for."""
    request = Request(KATA.id, IGNORES_THE_MASK.format(EXCUSES[name]), KATA.filename, seed=2017)
    report = session.grade(request, many=many)
    assert report["verdict"] == "failed"
    assert report["families"]["mask"]["passed"] < report["families"]["mask"]["total"]
    assert "machine" not in {case["kind"] for case in report["cases"]}


@pytest.mark.one_of_many(of=4)
@pytest.mark.skipif(not limits.LINUX, reason="reads /proc")
def test_somebody_kills_sandboxes() -> None:
    """Whoever ends sandboxes, at whatever moment, lets no wrong answer pass; and every case is accounted for."""
    others = set(children(os.getpid()))
    with Session(call_seconds=2.0) as session:
        right = Request(KATA.id, KATA.reference(), KATA.filename, seed=2017)
        total = len(session.grade(right)["cases"])
        (server,) = set(children(os.getpid())) - others
        over = threading.Event()
        killer = threading.Thread(target=_kill_now_and_then, args=(server, over))
        killer.start()
        try:
            for many in (False, True):
                wrong = Request(KATA.id, IGNORES_THE_MASK.format("pass"), KATA.filename, seed=2017)
                for _time in range(3):
                    report = session.grade(wrong, many=many)
                    assert report["verdict"] == "failed"
                    assert len(report["cases"]) == total
        finally:
            over.set()
            killer.join()
        assert session.grade(right)["verdict"] == "passed"


def _kill_now_and_then(server: int, over: threading.Event) -> None:
    draw = random.Random(7)
    while not over.wait(draw.uniform(0.02, 0.3)):
        for keeper in children(server):
            sandboxes = sorted(descendants(keeper))[1:]  # the judge was there before them
            if sandboxes and draw.random() < 0.5:
                try:
                    os.kill(draw.choice(sandboxes), signal.SIGKILL)
                except ProcessLookupError:
                    time.sleep(0)
