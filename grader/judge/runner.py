"""Runs the cases against the answer: prepared ones all at once, the others one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from grader.judge.cases import Case, CaseOutcome, Run
from grader.judge.check import Check
from grader.judge.failure import Failure
from grader.judge.grading import Grading
from grader.judge.lanes import Backend, Lane
from grader.judge.numbers import Numbers
from grader.judge.plan import Plan, Prepared, Replies
from grader.judge.sequence import Ready, fails, few, order, parted, together
from grader.judge.variant import Twin
from grader.language import _
from grader.sandbox.observe import SIMULATED
from grader.sandbox.sentences import in_words
from grader.sandbox.tickets import Lost

RUNS_AHEAD: Final = 12
MOST_RESTARTS: Final = 20


class Runner:
    """Runs cases against the answer, ahead of their judgement."""

    def __init__(self, grading: Grading, on_outcome: Callable[[CaseOutcome], None]) -> None:
        self._grading, self._on_outcome = grading, on_outcome
        self._open: deque[Run] = deque()
        self._first: Check | None = None
        self._case: Case | None = None

    def run(self, runs: list[Run]) -> None:
        """Ask for one run after the other, and judge the oldest ones that are open."""
        trainings = [run for run in runs if run.outcome.case.trains]
        quick = [run for run in runs if run not in trainings]
        for run in quick:
            self._run(run)
        self._finish_all()
        self._train(trainings, quick)

    def _train(self, trainings: list[Run], others: list[Run]) -> None:
        """Run the cases that train a module, unless another one has failed: that one says more, and at once."""
        for run in trainings:
            if any(outcome.failure is not None for other in others for outcome in other.outcomes):
                run.outcome.outcome = "skipped"
                run.outcome.reason = _("nothing is trained before all other cases pass")
                self._on_outcome(run.outcome)
            else:
                self._run(run)
                self._finish_all()

    def _finish_all(self) -> None:
        while self._open:
            self._finish(self._open.popleft())

    def replay(self, runs: list[Run], plan: Plan, *, patiently: bool) -> None:
        """Ask for all that was prepared for these runs at once, and judge the replies as they come.

        ``patiently``: what is derived waits for its cases, and many runs need not be asked for.
        """
        trainings = [run for run in runs if run.outcome.case.trains]
        runs = [run for run in runs if run not in trainings]
        mains = {run.outcome.case.stream: run for run in runs if run.is_main}
        ahead, left = parted(runs, plan)
        certain = False
        if patiently:
            self._ask_and_judge([pair for pair in ahead if pair[0].is_main], plan)
            certain = any(main.outcome.outcome != "passed" for main in mains.values())
            ahead = [pair for pair in ahead if not pair[0].is_main]
            if certain:
                ahead, left = few(ahead, left, mains)
        self._ask_and_judge_jointly(ahead, plan, mains)
        evidence: dict[tuple[str, str], list[Run]] = {}
        for run, _ready in ahead:
            if not run.is_main:
                evidence.setdefault(run.variant, []).append(run)
        doubtful = [pair for pair in left if not self._decided(pair[0], mains, evidence, certain=certain)]
        self._ask_and_judge(doubtful, plan)
        self._finish_all()
        self._train(trainings, runs)

    def _ask_and_judge_jointly(self, runs: list[Ready], plan: Plan, mains: dict[str, Run]) -> None:
        """Make one run in the place of two where the plan has one.

        If it does not pass, or its case does not, both of them are made after all.
        """
        if self._grading.answer.load_failure is not None:
            self._ask_and_judge(runs, plan)
            return
        alone, joints = plan.jointly(runs)
        self._ask([*alone, *(pair for pair, _parts in joints)], plan)
        self._judge_all(alone)
        apart: list[Ready] = []
        for (run, ready), parts in joints:
            if not fails(mains.get(run.outcome.case.stream)) and self._passes(run, ready):
                for part, part_ready in parts:
                    part.outcome.prepared, part.outcome.tickets = part_ready, run.outcome.tickets
                    self._close(part)
            else:
                apart += parts
        self._ask_and_judge(sorted(apart, key=order), plan)

    def _ask_and_judge(self, runs: list[Ready], plan: Plan) -> None:
        if self._grading.answer.load_failure is None:
            self._ask(runs, plan)
            self._judge_all(runs)
        else:  # there is nobody to ask
            for run, _ready in runs:
                self._run(run)

    def _ask(self, runs: list[Ready], plan: Plan) -> None:
        answer = self._grading.answer
        lanes: set[Lane] = set()
        for lane, group in together(runs, self._lane):
            if any(run.outcome.variant.device == SIMULATED for run, _ready in group):
                answer.ask_for_device()
            messages = [message for _run, ready in group for message in ready.messages]
            one_by_one = len(messages) == 1 or lane.is_in_doubt
            asked = map(lane.send, messages) if one_by_one else iter(lane.send_together(plan.several(group)))
            for run, ready in group:
                run.outcome.tickets = [next(asked) for _message in ready.messages]
            lanes.add(lane)
        for lane in lanes:
            lane.flush()

    def _lane(self, run: Run) -> Lane:
        return self._grading.answer.lane(run.outcome.family, run.lane)

    def _judge_all(self, runs: list[Ready]) -> None:
        for run, ready in runs:
            if not self._skips(run):
                self._judge(run, ready)

    def _decided(
        self, run: Run, mains: dict[str, Run], evidence: dict[tuple[str, str], list[Run]], *, certain: bool
    ) -> bool:
        """Decide a run by those of its variant that were asked for, unless they leave doubt.

        Where the verdict is ``certain``, a case that has failed is not asked whether it does so in a variant, too.
        """
        main, chosen = mains.get(run.outcome.case.stream), evidence.get(run.variant, [])
        failed = [other for other in chosen if other.outcome.outcome != "passed"]
        if fails(main) and (failed or certain):  # as expected: it is no new fact that it fails in this variant, too
            assert main is not None
            run.follow(main.outcome)
        elif (
            chosen
            and not fails(main)
            and all(fails(mains.get(other.outcome.case.stream)) for other in failed)
            and (main is not None or not failed)
        ):
            run.follow(None)
        else:
            return False
        self._close(run)
        return True

    # --- prepared

    def _judge(self, run: Run, ready: Prepared) -> None:
        outcome = run.outcome
        lane = self._lane(run)
        if self._passes(run, ready):
            self._passed(run, ready, lane)
        elif ready.is_straight:
            outcome.check, outcome.missed = self._asked(run, ready, lane), ready
            self._finish(run)
        elif self._begin(run, Replies(lane, ready, outcome.tickets), ready):
            self._finish(run)
        else:
            self._close(run)

    def _passes(self, run: Run, ready: Prepared) -> bool:
        """Whether all replies are those of a passing answer, at a glance."""
        lane, tickets = self._lane(run), run.outcome.tickets
        return (
            ready.is_straight
            and all(map(lane.answered, tickets))
            and ready.met((ticket.reply, ticket.payload) for ticket in tickets)
        )

    def _passed(self, run: Run, ready: Prepared, lane: Lane) -> None:
        main = run.outcome

        def recall() -> Check:
            check = self._asked(run, ready, lane)
            check.settle()
            self._grading.reference.release(check.handles)
            return check

        main.recall, main.prepared = recall, ready
        for outcome in run.outcomes:
            if outcome is not main:
                outcome.recall = lambda: main.checked  # type: ignore[assignment]
        self._close(run)

    def _asked(self, run: Run, ready: Prepared, backend: Backend) -> Check:
        """Return the check of a straight run that was asked for: what is left to do is to judge."""
        check = self._check(run, backend, ready)
        check.exchanges, check.agreements = ready.asked_with(run.outcome.tickets), ready.agreements
        check.handles = [exchange.header["handle"] for exchange in check.exchanges if exchange.header["op"] == "build"]
        return check

    # --- one by one

    def _run(self, run: Run) -> None:
        outcome = run.outcome
        if self._skips(run):
            return
        lane = self._lane(run)
        if outcome.case is not self._case:
            self._first, self._case = None, outcome.case
        if self._begin(run, lane, self._first):
            lane.flush()
            self._open.append(run)
        else:
            self._close(run)
        self._first = self._first or outcome.check
        while self._open and (lane.careful or len(self._open) > RUNS_AHEAD):
            self._finish(self._open.popleft())

    def _skips(self, run: Run) -> bool:
        """Skip a run on the simulated device where there is none, and all that follows too many deaths."""
        answer, outcome = self._grading.answer, run.outcome
        if answer.is_hopeless:
            sentence = _("your code has ended its process in {count} cases; the others are left out")
            if answer.timeouts:
                sentence = _("your code ran out of time or ended its process in {count} cases; the others are left out")
            reason = sentence.format(count=answer.deaths)
        elif outcome.variant.device == SIMULATED and (problem := answer.device_problem()):
            reason = _("the simulated device does not work here: {problem}").format(problem=in_words(problem))
        else:
            return False
        for shown in run.outcomes:
            shown.outcome, shown.reason = "skipped", reason
            self._on_outcome(shown)
        return True

    def _check(self, run: Run, backend: Backend, twin: Twin | None) -> Check:
        grading, case = self._grading, run.outcome.case
        weights = Numbers(grading.seed, f"weights of {case.stream}")
        return Check(grading, run.outcome.variant, weights, backend, run.number, twin)

    def _begin(self, run: Run, backend: Backend, twin: Twin | None = None) -> bool:
        """Run the function of the case. Returns whether something is left to be judged."""
        grading, outcome = self._grading, run.outcome
        for _attempt in range(MOST_RESTARTS):
            outcome.check = self._check(run, backend, twin)
            try:
                outcome.case.function(outcome.check, Numbers(grading.seed, outcome.case.stream))
            except Failure as failure:
                outcome.fail(failure)
                return False
            except Lost:
                grading.reference.release(outcome.check.handles)
                backend, twin = self._lane(run), None
                continue
            return True
        raise RuntimeError(f"{outcome.id} was lost {MOST_RESTARTS} times")

    def _finish(self, run: Run) -> None:
        for _attempt in range(MOST_RESTARTS):
            assert run.outcome.check is not None
            try:
                run.outcome.check.settle()
            except Failure as failure:
                run.outcome.fail(failure)
            except Lost:  # it stood behind one that ended the sandbox
                self._grading.reference.release(run.outcome.check.handles)
                if self._begin(run, self._lane(run)):
                    continue
            break
        else:
            raise RuntimeError(f"{run.outcome.id} was lost {MOST_RESTARTS} times")
        self._close(run)

    def _close(self, run: Run) -> None:
        for outcome in run.close():
            self._on_outcome(outcome)
        if run.outcome.check is not None:
            self._grading.reference.release(run.outcome.check.handles)
