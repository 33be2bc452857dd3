"""What a judge keeps between gradings of one kata: cases, reference, bank of mistakes, and a plan for the next answer.

Nothing of an answer is preloaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from grader.catalog import Kata
from grader.judge.cases.case import Case
from grader.judge.cases.collect import cases_of
from grader.judge.contract import Grading, Reference
from grader.judge.explain.bank import Bank
from grader.judge.explain.few import looked_at_first
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.plan import Plan, runs_of
from grader.judge.workers.answer import Answer
from grader.judge.workers.keeper_client import ONE_WORKER, WORKERS, KeeperClient
from grader.language import current
from grader.transport.request import fresh_seed, is_real

MOST_WITHOUT_PLAN: Final = 2


class Workbench:
    """The judge's workbench for one kata."""

    def __init__(self, kata: Kata, keeper: KeeperClient, call_seconds: float | None) -> None:
        self.lang = current()
        self._stamp = stamp(kata)
        self.kata = dataclasses.replace(kata, call_seconds=call_seconds) if call_seconds is not None else kata
        self._keeper = keeper
        self.wanted = False
        """Whether a plan shall be made although nothing was graded yet."""
        self._plan: Plan | None = None
        self._next: Plan | None = None
        self._steps: Iterator[None] | None = None
        self._rehearsals: Iterator[None] | None = None
        self._used = True
        self._graded = 0
        self._broken = False
        self._workers: tuple[str, ...] = WORKERS
        self._runs: tuple[int | None, list[Run]] = None, []

    @cached_property
    def cases(self) -> list[Case]:
        """The cases of the kata."""
        return cases_of(self.kata.solution, self.reference.texts)

    @cached_property
    def reference(self) -> Reference:
        """The reference."""
        return Reference(self.kata)

    @cached_property
    def bank(self) -> Bank:
        """The known mistakes."""
        return Bank(self.reference)

    def grading(self, request: dict[str, Any], plan: Plan | None, *, many: bool) -> Grading:
        """Begin a grading, one of ``many`` perhaps.

        Sandboxes start while the reference is read; those that wait already load the file at once.
        """
        self._workers = ONE_WORKER if many and not is_real(request["device"]) else WORKERS
        self._ask_for_sandboxes()
        seed = plan.seed if plan is not None else self.seed_for(request)
        reference, filename = self.reference, Path(request["filename"]).name
        answer = Answer(self.kata, request["source"], filename, self._keeper, self._workers)
        if plan is not None:
            answer.load()
        return Grading(reference, seed, answer)

    def is_outdated(self) -> bool:
        """Whether somebody has changed the kata since."""
        return stamp(self.kata) != self._stamp

    def seed_for(self, request: dict[str, Any]) -> int:
        """Return the seed that was asked for, a fresh one else."""
        seed: int | None = request["seed"]
        return seed if seed is not None else fresh_seed()

    def runs(self, seed: int, device: str) -> list[Run]:
        """Return the runs of a grading, which may be made already; ``device`` where it is not the simulated one."""
        (made_for, runs), self._runs = self._runs, (None, [])
        return runs if made_for == seed and not device else self._runs_of(seed, device)

    def _runs_of(self, seed: int, device: str = "") -> list[Run]:
        return runs_of(self.cases, self.kata.families, seed, device, self.kata.without)

    # --- preparing

    def plan_for(self, request: dict[str, Any]) -> Plan | None:
        """Return the plan for a request; None where it must do without.

        The first gradings of a judge do not wait for a plan; where they are many in a row, one is made first.
        """
        if is_real(request["device"]):
            return None
        seed = request["seed"]
        if request.get("many") and seed is not None and (self._plan is None or self._plan.seed != seed):
            self._plan = None
            self._begin(seed)
        if self._plan is None and (request.get("many") or self._graded >= MOST_WITHOUT_PLAN):
            while self._plan is None and self._make():
                pass
            if request.get("many"):
                self._hand_over()
        return self._plan if self._plan is not None and seed in (None, self._plan.seed) else None

    def used(self, plan: Plan | None, *, many: bool) -> None:
        """Note that a grading is over: when there is time, new inputs are drawn. ``many`` answers get the same ones."""
        self.wanted = True
        self._graded += 1
        self._used = self._used or (plan is not None and not many)

    def prepare_a_little(self) -> bool:
        """Take one step towards the next grading. Returns whether there may be more to do."""
        if not self.wanted:
            return False
        if self._ask_for_sandboxes():
            return True
        return (self._used and self._make()) or self._preload() or self._rehearse()

    def close(self) -> None:
        """Leave the workbench to another kata."""
        self._keeper.discard_waiting()

    def _preload(self) -> bool:
        """Let the sandboxes that wait unpack what they will be asked for. Returns whether there is more to do."""
        if self._plan is None or self._used or self._workers != WORKERS:
            return False
        busy = [self._keeper.preload(worker, self._plan.ahead.get(worker, [])) for worker in self._workers]
        return any(busy)

    def _rehearse(self) -> bool:
        """Let the known mistakes do what an answer will be asked for. Returns whether there is more to do."""
        if self._plan is None or self._used or self._workers != WORKERS:
            return False
        if self._rehearsals is None:
            made_for, runs = self._runs
            telling = looked_at_first(runs, self._plan.runs) if made_for == self._plan.seed else []
            self._rehearsals = self.bank.rehearsed(self._plan.seed, telling)
        try:
            return next(self._rehearsals, _END) is not _END
        except Exception:  # noqa: BLE001 - the grading that needs them tells what is wrong
            self._rehearsals = iter(())
            return False

    def _hand_over(self) -> None:
        """Let the sandboxes of many answers have what each of them is asked: it is unpacked once for all."""
        if self._plan is not None:
            self._keeper.preload_all([several for worker in self._plan.ahead.values() for several in worker])

    def _make(self) -> bool:
        """Prepare one more run; the plan takes effect when it is whole. Returns whether there is more to do."""
        try:
            return not self._broken and self._one_more()
        except Exception:  # noqa: BLE001 - gradings do without a plan, and tell what is wrong
            self._broken, self._plan = True, None
            return False

    def _one_more(self) -> bool:
        if self._steps is None:
            self._begin(fresh_seed())
        assert self._steps is not None
        if next(self._steps, _END) is _END:
            self._plan, self._next, self._steps, self._used = self._next, None, None, False
            self._rehearsals = None
            assert self._plan is not None
            self._runs = self._plan.seed, self._runs_of(self._plan.seed)
            return False
        return True

    def _begin(self, seed: int) -> None:
        """Begin a plan, whatever became of the one before."""
        self._next = Plan(seed)
        self._steps = self._next.steps(Grading(self.reference, seed), self.cases)

    def _ask_for_sandboxes(self) -> bool:
        asked = [self._keeper.ask(worker, cpu_seconds=self.kata.grading_seconds) for worker in self._workers]
        return any(asked)


_END: Any = object()


def wanted(runs: list[Run], text: str) -> list[Run]:
    """Return the runs and, of these, the outcomes whose id or title has a text."""
    if not text:
        return runs

    def fits(outcome: CaseOutcome) -> bool:
        names = (outcome.id, outcome.id.replace("_", " "), outcome.title)
        return any(text in name.lower() for name in names)

    return [run for run in runs if run.restrict_to(fits)]


def stamp(kata: Kata) -> list[tuple[int, int]]:
    """Return what changes when a file of a kata does."""
    files = sorted((*kata.solution.iterdir(), kata.folder / "kata.toml"))
    return [(file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()]
