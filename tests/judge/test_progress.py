"""What the client hears: a plan, now and then how far it is, and nothing that makes the judge wait or fail."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from grader.judge import service as module
from grader.judge.service import PROGRESS_SECONDS, Stale, _Progress, has_said_something, next_request, tell
from grader.transport import jsonlines
from tests.judge.runs import failed, passed, run_of


class Time:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return what it shows."""
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The clock of the module."""
    clock = Time()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The judge's end and the client's."""
    judge, client = socket.socketpair()
    client.settimeout(5)
    with judge, client:
        yield judge, client


def heard(client: socket.socket) -> dict:
    """Return the next event."""
    return jsonlines.receive(client)[0]


def test_the_events_of_a_grading(line, time: Time) -> None:
    """How many cases there are, how many are done and have failed, and when the rest begins."""
    judge, client = line
    progress = _Progress(judge, may_be_stale=False)
    progress.begins(3)
    progress.notes(passed(run_of(1, "one")).outcome)
    time.now += 2 * PROGRESS_SECONDS
    progress.notes(failed(run_of(2, "two")).outcome)
    progress.confirms()
    assert heard(client) == {"event": "plan", "total": 3}
    assert heard(client) == {"event": "progress", "done": 2, "failed": 1, "title": "two"}
    progress.explains()
    assert heard(client) == {"event": "confirming"}
    assert heard(client) == {"event": "explaining", "failed": 1}
    assert [outcome.title for outcome in progress.outcomes] == ["one", "two"]


def test_a_pass_needs_no_explanation(line, time: Time) -> None:
    """Nobody is told that a cause is looked for."""
    judge, client = line
    progress = _Progress(judge, may_be_stale=False)
    progress.notes(passed(run_of(1, "one")).outcome)
    progress.explains()
    progress.confirms()
    assert heard(client) == {"event": "confirming"}


def test_not_too_often(line, time: Time) -> None:
    """Between two events of progress some time has gone by; no outcome is lost for that."""
    judge, client = line
    progress = _Progress(judge, may_be_stale=False)
    for number in range(10):
        time.now += PROGRESS_SECONDS / 3.5
        progress.notes(passed(run_of(number, f"case {number}")).outcome)
    progress.confirms()
    events = []
    while not events or events[-1]["event"] != "confirming":
        events.append(heard(client))
    assert [event["done"] for event in events[:-1]] == [4, 8]
    assert len(progress.outcomes) == 10


def test_the_end_of_a_training_is_always_told(line, time: Time) -> None:
    """Steps in between only when it is time."""
    judge, client = line
    progress = _Progress(judge, may_be_stale=False)
    for step in (1, 2, 3):
        progress.hears(step, 3, 0.5)
    assert heard(client) == {"event": "training", "step": 3, "steps": 3, "loss": 0.5}


@pytest.mark.parametrize("may_be_stale", [True, False])
def test_a_newer_request_ends_a_grading(line, time: Time, may_be_stale: bool) -> None:
    """Where it may, and only when the judge looks up."""
    judge, client = line
    progress = _Progress(judge, may_be_stale=may_be_stale)
    jsonlines.send(client, {"op": "grade"})
    progress.notes(passed(run_of(1, "one")).outcome)
    time.now += 2 * PROGRESS_SECONDS
    if may_be_stale:
        with pytest.raises(Stale):
            progress.notes(passed(run_of(2, "two")).outcome)
    else:
        progress.notes(passed(run_of(2, "two")).outcome)
    assert next_request(judge) == {"op": "grade"}


def test_who_has_gone_hears_nothing(line) -> None:
    """The judge goes on, and learns that there will be no request."""
    judge, client = line
    assert not has_said_something(judge)
    client.close()
    tell(judge, {"event": "plan", "total": 1})
    assert has_said_something(judge)
    assert next_request(judge) is None


def test_laps(line, time: Time) -> None:
    """Each lap is the time since the last one, and all of them together the whole."""
    progress = _Progress(line[0], may_be_stale=False)
    time.now += 1.5
    progress.lap("preparing")
    time.now += 2.0
    progress.lap("cases")
    assert progress.spent == {"preparing": 1.5, "cases": 2.0}
    assert progress.seconds == 3.5
