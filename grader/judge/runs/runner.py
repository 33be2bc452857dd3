"""Runs the cases against the answer: prepared ones all at once, the others one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from grader.judge.cases.case import Case
from grader.judge.cases.check import Check
from grader.judge.cases.variant import KnownResults
from grader.judge.contract import Grading
from grader.judge.failure import Failure
from grader.judge.runs.batches import Ready, asked_by, fails, few, parted, together
from grader.judge.runs.lives import again, assembled, live, play
from grader.judge.runs.outcome import CaseOutcome, Run, Skipped
from grader.judge.runs.plan import Plan
from grader.judge.runs.recording import Recording
from grader.judge.tolerance import is_near_nothing, may_be_bad_luck
from grader.judge.workers.answer import MOST_RESTARTS, Worker
from grader.judge.workers.backend import Backend, Header, Tensors
from grader.judge.workers.pending import Asked, MustResubmit, Pending, Reply
from grader.language import _
from grader.sandbox.observe import SIMULATED
from grader.transport.operations import same_operation
from grader.transport.sentences import in_words

RUNS_AHEAD: Final = 12
DRAWS_AGAIN: Final = 3
FAILS_WITHOUT_RUNNING: Final = ("left-out", "unasked")


class Runner:
    """Runs cases against the answer, ahead of their judgement."""

    def __init__(
        self,
        grading: Grading,
        on_outcome: Callable[[CaseOutcome], None],
        plan: Plan | None = None,
        on_confirming: Callable[[], None] = lambda: None,
    ) -> None:
        """Start with what was prepared, if anything was.

        ``on_confirming`` is called when all that shows something new has passed and the rest of the cases begins.
        """
        self._grading, self._on_outcome, self._plan = grading, on_outcome, plan
        self._on_confirming = on_confirming
        self._open: deque[Run] = deque()
        self._first: Check | None = None
        self._case: Case | None = None
        self._was_near = ""
        """The case in which numbers were near, though not near enough."""

    def run(self, runs: list[Run], *, patiently: bool = False) -> None:
        """Run all of these, or as many as it takes to know that the answer fails, and in what.

        ``patiently``: what is derived waits for its cases, and few of an answer that has failed have to be asked for.
        """
        trainings = [run for run in runs if run.outcome.case.trains]
        others = [run for run in runs if run not in trainings]
        if self._plan is None:
            for run in others:
                self._run(run)
            self._finish_all()
        else:
            self._run_prepared(others, self._plan, patiently=patiently)
        self._train(trainings, others)

    def _run_prepared(self, runs: list[Run], plan: Plan, *, patiently: bool) -> None:
        """Ask first for the runs that show something new; where they all pass, for every other one, too."""
        mains = {run.outcome.case.stream: run for run in runs if run.is_main}
        ahead, left = parted(runs, plan.runs)
        certain = False
        if patiently:
            self._ask_and_judge([pair for pair in ahead if pair[0].is_main])
            certain = _any_fails(mains.values())
            ahead = [pair for pair in ahead if not pair[0].is_main]
            if certain:
                ahead, left = few(ahead, left, mains)
        self._ask_and_judge(ahead)
        if _any_fails(runs):
            left = self._left_in_doubt(ahead, left, mains, certain=certain)
        elif left:
            self._on_confirming()
        self._ask_and_judge(left)
        self._finish_all()

    def _train(self, trainings: list[Run], others: list[Run]) -> None:
        """Run the cases that train a module, unless another one has failed: that one says more, and at once."""
        for run in trainings:
            if _any_fails(others):
                self._skip(run, "untrained", _("nothing is trained before all other cases pass"))
            else:
                self._run(run)
                self._finish_all()

    def _left_in_doubt(
        self, asked: list[Ready], left: list[Ready], mains: dict[str, Run], *, certain: bool
    ) -> list[Ready]:
        """Leave out the runs that nobody needs in order to know in what the answer fails; returns the others."""
        evidence: dict[tuple[str, str], list[Run]] = {}
        for run, _recording in asked:
            if not run.is_main:
                evidence.setdefault(run.variant, []).append(run)
        doubtful: list[Ready] = []
        for pair in left:
            if _is_decided(pair[0], mains, evidence, certain=certain):
                self._skip(pair[0], "unasked", _("only repeats other cases, and the answer has failed already"))
            else:
                doubtful.append(pair)
        return doubtful

    # --- prepared

    def _ask_and_judge(self, runs: list[Ready]) -> None:
        if self._grading.answer.load_failure is None:
            self._ask(runs)
            for run, recording in runs:
                if not self._skips(run):
                    self._judge(run, recording)
        else:  # there is nobody to ask
            for run, _recording in runs:
                self._run(run)

    def _ask(self, runs: list[Ready]) -> None:
        workers: set[Worker] = set()
        for worker, group in together(runs, self._worker):
            messages = asked_by(group)
            one_by_one = len(messages) == 1 or worker.is_in_doubt
            asked = map(worker.send, messages) if one_by_one else iter(worker.send_together(messages))
            for run, recording in group:
                run.recording, run.operations = recording, [next(asked) for _message in recording.messages]
            workers.add(worker)
        for worker in workers:
            worker.flush()

    def _judge(self, run: Run, recording: Recording) -> None:
        worker = self._worker(run)
        if _passes(run, recording, worker):
            run.rejudge = lambda: self._rejudged(run, recording, worker)
            self._close(run)
        elif recording.is_straight:
            run.check = assembled(run, self._grading, worker, recording)
            self._finish(run)
        elif self._begin(run, _Replies(worker, recording, run.operations), recording):
            self._finish(run)
        else:
            self._close(run)

    def _rejudged(self, run: Run, recording: Recording, worker: Worker) -> Check:
        check = assembled(run, self._grading, worker, recording)
        check.settle()
        self._grading.reference.release(check.handles)
        return check

    def _worker(self, run: Run) -> Worker:
        return self._grading.answer.worker(run.outcome.family, run.number, run.outcome.variant.device)

    # --- one by one

    def _run(self, run: Run) -> None:
        outcome = run.outcome
        if self._skips(run):
            return
        worker = self._worker(run)
        if outcome.case is not self._case:
            self._first, self._case = None, outcome.case
        if self._begin(run, worker, self._first):
            worker.flush()
            self._open.append(run)
        else:
            self._close(run)
        self._first = self._first or outcome.check
        while self._open and (worker.careful or len(self._open) > RUNS_AHEAD):
            self._finish(self._open.popleft())

    def _finish_all(self) -> None:
        while self._open:
            self._finish(self._open.popleft())

    def _skips(self, run: Run) -> bool:
        """Skip a run on the simulated device where there is none, and all that follows too many deaths."""
        answer = self._grading.answer
        if answer.is_hopeless:
            sentence = _("your code ended its process, or had to be ended, in {count} cases; the others are left out")
            self._skip(run, "left-out", sentence.format(count=answer.deaths))
            return True
        if run.outcome.variant.device == SIMULATED and (problem := answer.device_problem()):
            reason = _("the simulated device does not work here: {problem}").format(problem=in_words(problem))
            self._skip(run, "machine", reason)
            return True
        return False

    def _skip(self, run: Run, why: Skipped, reason: str) -> None:
        run.skip(why, reason)
        self._close(run)

    def _begin(self, run: Run, backend: Backend, known: KnownResults | None = None) -> bool:
        """Run the function of the case. Returns whether something is left to be judged."""
        grading, outcome = self._grading, run.outcome
        for _attempt in range(MOST_RESTARTS):
            check = run.check = live(outcome, grading, backend, number=run.number, known=known)
            try:
                play(outcome, grading, check)
            except Failure as failure:
                self._fail(run, failure)
                return False
            except MustResubmit:
                grading.reference.release(check.handles)
                backend, known = self._worker(run), None
                continue
            return True
        raise RuntimeError(f"{outcome.id} was lost {MOST_RESTARTS} times")

    def _finish(self, run: Run) -> None:
        for _attempt in range(MOST_RESTARTS):
            assert run.outcome.check is not None
            try:
                run.outcome.check.settle()
            except Failure as failure:
                self._fail(run, failure)
            except MustResubmit:  # it stood behind one that ended the sandbox
                self._grading.reference.release(run.outcome.check.handles)
                if self._begin(run, self._worker(run)):
                    continue
            break
        else:
            raise RuntimeError(f"{run.outcome.id} was lost {MOST_RESTARTS} times")
        self._close(run)

    def _fail(self, run: Run, failure: Failure) -> None:
        """Let a run have failed, unless it did so by bad luck."""
        stream = run.outcome.case.stream
        is_near = may_be_bad_luck(run.outcome.variant.dtype, failure.times, failure.tolerance)
        if not is_near or self._was_near not in ("", stream) or not self._passes_elsewhere(run):
            run.outcome.fail(failure)
        self._was_near = self._was_near or (stream if is_near else "")

    def _passes_elsewhere(self, run: Run) -> bool:
        """Whether a case passes on other inputs, each time they are drawn: then those were the rare ones.

        In half precision the rounding of a right answer is beyond its tolerance about once in 40,000 runs, in float32
        where all numbers of a result happen to be near 0.
        """
        outcome, worker = run.outcome, self._worker(run)
        if outcome.check is not None:  # its modules have other weights under the same numbers
            self._grading.reference.release(outcome.check.handles)
        passed: list[Check] = []
        for draw in range(1, 2 * DRAWS_AGAIN + 1):
            try:
                passed.append(again(outcome, self._grading, worker, judges=True, number=run.number, draw=draw))
            except Failure as failure:
                if not is_near_nothing(outcome.variant.dtype, failure.times, failure.tolerance):
                    return False
            except MustResubmit:
                return False
            if len(passed) == DRAWS_AGAIN:
                run.check, run.is_drawn_again = passed[-1], True
                return True
        return False

    def _close(self, run: Run) -> None:
        for outcome in run.close():
            self._on_outcome(outcome)
        if run.outcome.check is not None:
            self._grading.reference.release(run.outcome.check.handles)


class _Replies:
    """Gives a run of a case the replies that are in already; where it asks for something else, all is lost."""

    def __init__(self, worker: Worker, prepared: Recording, operations: list[Pending]) -> None:
        self._worker, self._exchanges, self._tickets = worker, prepared.exchanges, operations
        self._at = 0

    def submit(self, header: Header, tensors: Tensors) -> Pending:
        """Return the operation that was asked for ahead. Raises MustResubmit where it was another one."""
        at = self._at
        self._at += 1
        if at >= len(self._tickets) or not same_operation(self._exchanges[at].sent, (header, tensors)):
            raise MustResubmit
        return self._tickets[at]

    def wait(self, asked: Asked) -> Reply:
        """Return its reply."""
        return self._worker.wait(asked)


def _any_fails(runs: Iterable[Run]) -> bool:
    """Whether something is known already that makes the answer fail."""
    outcomes = (outcome for run in runs for outcome in run.outcomes)
    return any(outcome.failure is not None or outcome.skipped in FAILS_WITHOUT_RUNNING for outcome in outcomes)


def _passes(run: Run, recording: Recording, worker: Worker) -> bool:
    """Whether all replies are those of a passing answer, at a glance."""
    return (
        recording.is_straight
        and all(map(worker.answered, run.operations))
        and recording.met((operation.reply, operation.payload) for operation in run.operations)
    )


def _is_decided(run: Run, mains: dict[str, Run], evidence: dict[tuple[str, str], list[Run]], *, certain: bool) -> bool:
    """Whether the runs of its variant that were asked for leave no doubt what this one would show.

    Where the verdict is ``certain``, a case that has failed is not asked whether it does so in a variant, too.
    """
    main, asked = mains.get(run.outcome.case.stream), evidence.get(run.variant, [])
    failed = [other for other in asked if other.outcome.outcome != "passed"]
    if fails(main):  # it would be no new fact that it fails in this variant, too
        return bool(failed) or certain
    if main is None and failed:
        return False
    return bool(asked) and all(fails(mains.get(other.outcome.case.stream)) for other in failed)
