"""The pytest plugin of the judge: lets pytest collect and call the cases, and runs each in its variants.

The cases of a kata are ordinary pytest functions; this plugin gives them ``check`` and ``rng``. pytest itself decides
nothing: what counts are the outcomes that the runner collects.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import FAMILIES
from grader.judge.cases import CORE, Case, CaseOutcome, Runner, variants_of
from grader.judge.check import Check, Variant
from grader.judge.grading import Grading
from grader.judge.numbers import Numbers
from grader.sandbox.observe import SIMULATED


class JudgePlugin:
    """Holds the grading while pytest runs."""

    def __init__(
        self,
        grading: Grading,
        wanted: str,
        device: str,
        on_plan: Callable[[int], None],
        on_outcome: Callable[[CaseOutcome], None],
    ) -> None:
        self.outcomes: list[CaseOutcome] = []
        self.problems: list[str] = []
        self._grading, self._wanted, self._device = grading, wanted.lower(), device or SIMULATED
        self._on_plan, self._on_outcome = on_plan, on_outcome
        self._runner = Runner(grading, self._note)

    @property
    def in_order(self) -> list[CaseOutcome]:
        """The outcomes: families in the order in which they build on each other, cases in that of their file."""
        return sorted(self.outcomes, key=lambda o: (FAMILIES.index(o.family), o.case.position))

    def finish(self) -> None:
        """Judge what is still open."""
        self._runner.finish()

    def _note(self, outcome: CaseOutcome) -> None:
        self.outcomes.append(outcome)
        self._on_outcome(outcome)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the marks of the cases."""
        for family in FAMILIES:
            config.addinivalue_line("markers", f"{family}: a case of the family {family}")
        config.addinivalue_line("markers", "derive(*families): derive only these families from the case")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Plan the variants of each case, and keep those that are asked for."""
        for position, item in enumerate(items):
            assert isinstance(item, pytest.Function)
            case = _case(item, position)
            variants = [v for v in self._variants(item) if self._is_wanted(CaseOutcome(case, v))]
            item.stash[_PLAN] = (case, variants)
        kept = [item for item in items if item.stash[_PLAN][1]]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        self._on_plan(sum(len(item.stash[_PLAN][1]) for item in items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Cases that cannot be collected are the grader's own fault."""
        if report.failed:
            self.problems.append(str(report.longrepr))

    @pytest.fixture
    def rng(self) -> None:
        """Each variant draws its inputs anew from the same stream: see `_case`."""

    @pytest.fixture
    def check(self) -> None:
        """Each variant has a check of its own: see `_case`."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Run a case in its variants. What the answer does wrong does not come up to pytest."""
        case, variants = pyfuncitem.stash[_PLAN]
        self._runner.run(case, variants)
        return True

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Whatever a case raises besides is a fault of our own."""
        if call.excinfo is not None:
            where = " < ".join(f"{Path(e.path).name}:{e.lineno + 1}" for e in reversed(call.excinfo.traceback[-4:]))
            self.problems.append(f"{call.excinfo.exconly()} ({where})")

    def _variants(self, item: pytest.Function) -> list[Variant]:
        family = _family(item)
        marks = list(item.iter_markers("derive"))
        chosen = tuple(name for mark in marks for name in mark.args) if marks else None
        return variants_of(family, chosen, self._grading.kata.families, self._device)

    def _is_wanted(self, outcome: CaseOutcome) -> bool:
        return self._wanted in outcome.id.lower() or self._wanted in outcome.title.lower()


_PLAN: pytest.StashKey[tuple[Case, list[Variant]]] = pytest.StashKey()


def _family(item: pytest.Function) -> str:
    return next((mark.name for mark in item.iter_markers() if mark.name in FAMILIES), CORE)


def _case(item: pytest.Function, position: int) -> Case:
    """Return a case as a function of ``check`` and ``rng`` alone."""
    own = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    names = item._fixtureinfo.argnames  # noqa: SLF001 - the names of its parameters, in order
    about = (item.function.__doc__ or "").strip().partition("\n")[0]

    def run(check: Check, rng: Numbers) -> None:
        given = own | {"check": check, "rng": rng}
        item.function(**{name: given[name] for name in names})

    return Case(item.originalname or item.name, ", ".join(map(str, own.values())), about, _family(item), position, run)
