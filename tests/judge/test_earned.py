"""A pass is earned whole: whatever ends a sandbox, and whenever, no wrong answer passes and no case goes missing.

The runner asks workers that die at a message of our choosing, in this process, so that every message gets its turn.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from grader import catalog
from grader.judge.cases.collect import cases_of
from grader.judge.contract import Grading, Reference
from grader.judge.explain import report
from grader.judge.failure import Failure, SandboxEnded
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.runs.plan import Plan, runs_of
from grader.judge.runs.runner import Runner
from grader.judge.workers.answer import MOST_DEATHS
from grader.judge.workers.backend import loaded, reply_of
from grader.judge.workers.pending import MustResubmit, Pending

SEED = 2017
IGNORES_THE_MASK = (
    "import torch\n\n\ndef masked_softmax(scores, mask=None, dim=-1):\n    return torch.softmax(scores, dim)\n"
)
FAMILIES = ("core", "mask", "dtype", "contract")
KATA = dataclasses.replace(catalog.find("masked-softmax"), families=FAMILIES)
MODES = ("cold", "prepared", "many")
EVERY = 9
"""Of the messages, one in so many gets its turn, in each mode another one."""
PARTS = 6

pytestmark = pytest.mark.xdist_group("earned")


class MortalWorker:
    """A sandbox in this process that ends at the messages with these numbers; like a real one it is replaced then."""

    careful = is_in_doubt = False

    def __init__(self, answer: MortalAnswer) -> None:
        self._answer = answer
        self._executor = loaded(answer.source, "answer.py")
        self._waiting: list[tuple[Pending, Any]] = []

    def load(self) -> None:
        """Have the file loaded: it is."""

    def flush(self) -> None:
        """Send what was asked for: it is."""

    def send(self, message: tuple[dict, dict]) -> Pending:
        """Ask for an operation."""
        operation = Pending(self, "", 1.0)
        self._waiting.append((operation, message))
        return operation

    def submit(self, header: dict, tensors: dict) -> Pending:
        """Ask for an operation, as a case does."""
        return self.send((header, tensors))

    def send_together(self, several: list) -> list[Pending]:
        """Ask for several."""
        return [self.send(message) for message in several]

    def answered(self, asked: Pending) -> bool:
        """Do what was asked for up to this operation."""
        while not asked.settled and self._waiting:
            operation, (header, tensors) = self._waiting.pop(0)
            self._answer.messages += 1
            if self._answer.dies_at(self._answer.messages):
                self._answer.deaths += 1
                operation.error = SandboxEnded("crashed", "it has ended")
                for other, _message in self._waiting:
                    other.error = MustResubmit()
                self._waiting.clear()
                self._executor = loaded(self._answer.source, "answer.py")
            else:
                reply, tensors = reply_of(self._executor, header | {"device": "cpu", "trace": None}, tensors)
                operation.reply, operation.payload = reply, lambda tensors=tensors: tensors
        return asked.reply is not None

    def wait(self, asked: Pending) -> tuple[dict, dict]:
        """Wait for an operation."""
        self.answered(asked)
        if isinstance(asked.error, SandboxEnded):
            raise Failure("crashed", "it has ended", "crashed")
        if asked.error is not None:
            raise asked.error
        return asked.reply, asked.payload()


class MortalAnswer:
    """An answer whose sandbox ends at certain messages."""

    load_failure = None
    timeouts = deaths = messages = 0

    def __init__(self, source: str, dies_at) -> None:
        self.source, self.dies_at = source, dies_at
        self._worker = MortalWorker(self)

    def worker(self, _family: str, _number: int = 0, _device: str = "") -> MortalWorker:
        """There is one."""
        return self._worker

    def device_problem(self) -> str:
        """The device is not what is tested here."""
        return "not in this process"

    @property
    def is_hopeless(self) -> bool:
        """As a real one."""
        return self.deaths >= MOST_DEATHS


@dataclasses.dataclass
class Course:
    """A kata, and a plan for it whose messages need no wire."""

    reference: Reference
    cases: list
    plan: Plan

    def graded(self, source: str, mode: str, dies_at=lambda _number: False) -> tuple[list[CaseOutcome], int, int]:
        """Return what came of the cases, how many there are, and how many messages there were."""
        grading = Grading(self.reference, SEED, MortalAnswer(source, dies_at))
        outcomes: list[CaseOutcome] = []
        runs = runs_of(self.cases, FAMILIES, 1)
        total = sum(len(run.outcomes) for run in runs)
        runner = Runner(grading, outcomes.append, None if mode == "cold" else self.plan)
        runner.run(runs, patiently=mode == "many")
        return outcomes, total, grading.answer.messages


@pytest.fixture(scope="module")
def course() -> Course:
    """The course."""
    reference = Reference(KATA)
    cases = cases_of(KATA.solution, reference.texts)
    plan = Plan(SEED)
    for _step in plan.steps(Grading(reference, SEED), cases):
        pass
    for recording in plan.runs:
        recording.messages = [exchange.sent for exchange in recording.exchanges]
    return Course(reference, cases, plan)


def verdict(found: tuple[list[CaseOutcome], int, int]) -> str:
    """Return the verdict on what came of the cases."""
    return report.verdict(*found[:2])


@pytest.mark.parametrize("mode", MODES)
def test_a_pass_is_made_of_every_run(course: Course, mode: str) -> None:
    """A passing answer is asked for as many operations in each mode, and every case has run."""
    found, total, messages = course.graded(KATA.reference(), mode)
    assert verdict((found, total, messages)) == "passed"
    assert len(found) == total
    assert {case.outcome for case in found} == {"passed"}
    assert messages >= sum(1 for run in runs_of(course.cases, FAMILIES, 1))


@pytest.mark.parametrize("mode", MODES[1:])
def test_a_failure_is_told_early(course: Course, mode: str) -> None:
    """An answer that fails is asked for less, and what it was not asked for is not said to have passed."""
    found, total, messages = course.graded(IGNORES_THE_MASK, mode)
    assert verdict((found, total, messages)) == "failed"
    assert "unasked" in {case.skipped for case in found}
    assert messages < course.graded(KATA.reference(), mode)[2]


def at_any_message(messages: int, mode: str, part: int) -> range:
    """Return the numbers of the messages that get their turn in a part of the many."""
    return range(1 + MODES.index(mode) + EVERY * part, messages + 1, EVERY * PARTS)


@pytest.mark.one_of_many(of=PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_an_end_at_any_message(course: Course, mode: str, part: int) -> None:
    """Who ends once, at whichever message, loses a case by it: it is told of as crashed, and nothing passes."""
    messages = course.graded(KATA.reference(), mode)[2]
    for number in at_any_message(messages, mode, part):
        found, total, _messages = course.graded(KATA.reference(), mode, lambda at, number=number: at == number)
        assert len(found) == total
        assert verdict((found, total, 0)) == "failed"
        assert "crashed" in {case.outcome for case in found}


@pytest.mark.one_of_many(of=PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_an_end_that_hides_a_failure(course: Course, mode: str, part: int) -> None:
    """A wrong answer that ends at any message is as wrong as before."""
    messages = course.graded(IGNORES_THE_MASK, mode)[2]
    for number in at_any_message(messages, mode, part):
        found, total, _messages = course.graded(IGNORES_THE_MASK, mode, lambda at, number=number: at == number)
        assert len(found) == total
        assert verdict((found, total, 0)) == "failed"


@pytest.mark.parametrize("mode", MODES)
def test_ends_from_some_message_on(course: Course, mode: str) -> None:
    """Who ends again and again is given up; what is left out then has not passed."""
    messages = course.graded(IGNORES_THE_MASK, mode)[2]
    for number in (1, 2, messages // 3, messages - 3):
        found, total, _messages = course.graded(IGNORES_THE_MASK, mode, lambda at, number=number: at >= number)
        assert len(found) == total
        assert verdict((found, total, 0)) == "failed"
