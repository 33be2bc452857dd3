"""A run that is recorded with the reference: what it asks, what it expects, and what it can be judged by."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.judge.cases.case import Case
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading
from grader.judge.explain.reproduce import Different, MistakeRunner, _Replay, number_of
from grader.judge.explain.response import Response
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.recorder import record
from grader.judge.runs.recording import Recording
from grader.judge.runs.runner import _Replies
from grader.judge.workers.backend import loaded
from grader.judge.workers.pending import MustResubmit, Pending
from grader.sandbox.executor import RUN_BITS
from grader.transport.operations import Payload

RIGHT = "def scaled(x, factor=2.0):\n    doubled = x * factor\n    return doubled, doubled.sum(-1)\n"
WRONG = RIGHT.replace("x * factor", "x + factor")


def run_of(function: Any, variant: Variant | None = None, **traits: Any) -> Run:
    """Return the first run of a case."""
    case = Case("test_it", "", "", "core", 0, function, **traits)
    return Run(CaseOutcome(case, variant or Variant("core")), number=1)


def recorded(grading: Grading, function: Any, variant: Variant | None = None, **traits: Any) -> Recording:
    """Record a case."""
    stand_in = loaded(grading.reference_text, "reference.py")
    return record(run_of(function, variant, **traits), grading, stand_in)


def one_call(check: Any, rng: Any) -> None:
    """Call the function once."""
    check["scaled"](rng.normal(2, 3))


def looks(check: Any, rng: Any) -> None:
    """Call it, and ask what came."""
    first = check["scaled"](rng.normal(2, 3))
    check.that(first[0].got is not None, "there is a result")


def builds(check: Any, rng: Any) -> None:
    """Build a module and call it."""
    check["Shift"](3)(rng.normal(2, 3))


def replies_of(source: str, recording: Recording) -> list[tuple[dict[str, Any], Payload]]:
    """Return what an implementation replies to a recording."""
    runner = MistakeRunner(source, "answer.py", frozenset())
    found = runner.remembered(1, recording.exchanges, looked=False)
    return [(response.reply, response.payload) for response in found]


@pytest.mark.parametrize(
    ("function", "variant", "traits", "known", "straight", "special", "messages"),
    [
        (one_call, None, {}, True, True, False, 1),
        (one_call, Variant("dtype", "float16", torch.float16), {}, True, True, False, 1),
        (builds, None, {}, True, True, False, 2),
        (looks, None, {}, True, False, False, 1),
        (one_call, Variant("cost", cost=True), {}, False, False, False, 1),
        (one_call, None, {"trains": True}, False, False, False, 0),
        (lambda check, rng: one_call(check, rng) if check.dtype else None, None, {}, True, True, True, 1),
    ],
    ids=["a call", "in float16", "a module", "looks", "counts", "trains", "asks for its dtype"],
)
def test_what_is_known_of_a_run(
    grading: Grading,
    function: Any,
    variant: Variant | None,
    traits: dict[str, Any],
    known: bool,
    straight: bool,
    special: bool,
    messages: int,
) -> None:
    """Known without an answer, straight where nobody looks, special where it depends on the variant."""
    recording = recorded(grading, function, variant, **traits)
    assert (recording.is_known, recording.is_straight, recording.is_special) == (known, straight, special)
    assert len(recording.messages) == messages
    assert not recording.repeats


@pytest.mark.parametrize(("source", "meets"), [(RIGHT, True), (WRONG, False), ("", False)])
def test_who_meets_a_recording(grading: Grading, source: str, meets: bool) -> None:
    """An answer that does what the reference does, and no other."""
    recording = recorded(grading, one_call)
    assert recording.met(replies_of(source, recording)) is meets


def test_an_agreement_of_two_results_is_part_of_it(grading: Grading) -> None:
    """Each reply may be right for itself within the tolerance; what a case says of two is looked at, too."""

    def same_twice(check: Any, rng: Any) -> None:
        x = rng.normal(2, 3)
        check.same(check["scaled"](x), check["scaled"](x), "the same twice")

    recording = recorded(grading, same_twice)
    assert recording.is_straight
    (right, payload), second = replies_of(RIGHT, recording)
    assert recording.met([(right, payload), second])
    nudged = {name: heap * (1 + 1e-6) for name, heap in payload().items()}
    assert all(expected.met(right, lambda: nudged) for expected in recording.expected)
    assert not recording.met([(right, lambda: nudged), second])


def test_the_reference_is_known_only_where_it_was_compared(grading: Grading) -> None:
    """Another run of the case takes it from here; not where its gradients are others, nor for one call too many."""
    recording = recorded(grading, one_call)
    want, grads, moves = recording.wanted(0, None)
    assert torch.equal(want[1], want[0].sum(-1))
    assert grads == {}
    assert moves is None
    assert recording.wanted(1, None) is None
    assert recording.wanted(0, [True]) is not None
    assert recording.wanted(0, [False]) is None
    assert Recording(torch.float32).wanted(0, None) is None


def test_replies_are_for_what_was_asked(grading: Grading) -> None:
    """A run gets the reply to what it asks; where it asks for something else, or for more, all is lost."""
    recording = recorded(grading, one_call)
    operation = Pending(None, "", 1.0)
    header, tensors = recording.exchanges[0].sent
    assert _Replies(None, recording, [operation]).submit(header, tensors) is operation
    other = {name: heap + 1 for name, heap in tensors.items()}
    for asked in ((header | {"seed": 3}, tensors), (header, other)):
        with pytest.raises(MustResubmit):
            _Replies(None, recording, [operation]).submit(*asked)
    replies = _Replies(None, recording, [operation])
    replies.submit(header, tensors)
    with pytest.raises(MustResubmit):
        replies.submit(header, tensors)


def test_a_run_is_looked_at_when_somebody_wants_it(grading: Grading) -> None:
    """What passed at a glance is judged in the long way once, and only on demand."""
    made: list[Any] = []

    class Checked:
        exchanges: list[Any] = []  # noqa: RUF012 - no operation was asked

    def rejudge() -> Any:
        made.append(Checked())
        return made[-1]

    operations = [Pending(None, "", 1.0)]
    run = run_of(lambda _check, _rng: None)
    run.recording, run.operations = Recording(torch.float32), operations
    assert not run.is_accepted_at_a_glance
    assert run.checked is None
    run.rejudge = rejudge
    assert run.is_accepted_at_a_glance
    assert run.asked() == operations
    assert run.checked is run.checked
    assert len(made) == 1
    assert run.asked() == []


def response(source: str, recording: Recording) -> Response:
    """Return what an implementation does when it is asked for the first operation."""
    return next(iter(MistakeRunner(source, "m.py", frozenset()).remembered(1, recording.exchanges, looked=False)))


def answered(grading: Grading, source: str) -> tuple[Recording, Any]:
    """Return a recording, and its first exchange with what an answer did."""
    recording = recorded(grading, one_call)
    exchange = recording.exchanges[0]
    found = response(source, recording)
    assert not found.is_that_of(exchange)  # nothing has come yet
    exchange.reply = found.reply
    if found.reply["kind"] == "value":
        from grader.transport.wire import Unpacker  # noqa: PLC0415 - as the judge reads it

        exchange.value = Unpacker(found.payload()).unpack(found.reply["value"])
    return recording, exchange


RAISES = RIGHT.replace("doubled = x * factor", "raise {}")


@pytest.mark.parametrize(
    ("answer", "mistake", "same"),
    [
        (WRONG, WRONG, True),
        (WRONG, WRONG.replace("doubled", "added"), True),
        (WRONG, RIGHT, False),
        (RAISES.format("ValueError('mine')"), RAISES.format("ValueError('yours')"), True),
        (RAISES.format("ValueError()"), RAISES.format("TypeError()"), False),
        (RAISES.format("RuntimeError('3 and 4')"), RAISES.format("RuntimeError('3 and 5')"), False),
        (RAISES.format("ValueError()"), WRONG, False),
        ("", "", True),
        (WRONG, WRONG.replace("x + factor", "(x + factor).double()"), False),
    ],
    ids=["same", "other names", "right", "own words", "other error", "torch's words", "a value", "missing", "dtype"],
)
def test_who_did_what_the_answer_did(grading: Grading, answer: str, mistake: str, same: bool) -> None:
    """Values and errors alike; a learner's own sentence is his own, and one of torch names sizes."""
    recording, exchange = answered(grading, answer)
    assert response(mistake, recording).is_that_of(exchange) is same


def test_a_mistake_remembers_what_it_did(grading: Grading) -> None:
    """It runs once for the inputs of a seed, and anew for others."""
    recording = recorded(grading, one_call)
    runner = MistakeRunner(WRONG, "m.py", frozenset())
    (first,) = runner.remembered(1, recording.exchanges, looked=False)
    (second,) = runner.remembered(1, recording.exchanges, looked=False)
    (other,) = runner.remembered(2, recording.exchanges, looked=False)
    assert first is second
    assert first is not other
    asked: list[bool] = []
    for seed in (1, 1, 2):
        runner.passes(seed, "core/it", lambda: asked.append(True) or True)
    assert len(asked) == 2


def test_a_replay_ends_at_the_first_difference(grading: Grading) -> None:
    """Another result, or one operation more than the answer was asked for."""
    recording, exchange = answered(grading, WRONG)
    header, tensors = exchange.sent
    assert number_of(exchange) == header["key"] >> RUN_BITS == 1
    with pytest.raises(Different):
        _Replay(loaded(RIGHT, "m.py"), [exchange]).submit(header, tensors)
    replay = _Replay(loaded(WRONG, "m.py"), [exchange])
    assert replay.wait(replay.submit(header, tensors))[0]["kind"] == "value"
    with pytest.raises(Different):
        replay.submit(header, tensors)
    assert replay.distance == 0.0
    assert recording.is_straight
