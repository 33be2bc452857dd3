"""The pytest plugin of the judge: multiplies cases into families, runs them against the answer, collects what happened.

The cases of a kata are ordinary pytest functions; this plugin gives them ``check`` and ``rng``. pytest itself decides nothing: a
case passed when its function returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import torch

from grader.catalog import FAMILIES
from grader.judge.check import Check, Variant
from grader.judge.failure import Failure, Outcome
from grader.judge.grading import Grading
from grader.judge.numbers import Numbers

CORE: Final = "core"
DERIVED_FROM: Final = (CORE, "mask")
HALVES: Final = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class CaseOutcome:
    """What happened in one case."""

    id: str
    family: str
    title: str
    about: str
    base: str = ""
    outcome: Outcome = "passed"
    failure: Failure | None = None
    printed: str = ""
    seconds: float = 0.0
    internal: str = ""
    check: Check | None = None
    function: Callable[[Check, Numbers], None] | None = field(default=None, repr=False)


def variants_of(family: str, chosen: tuple[str, ...] | None, families: tuple[str, ...]) -> list[Variant]:
    """Return the variants of a case: its own, and those derived from it. ``chosen`` are the marked families, None for all."""
    own = Variant(family, dtype=torch.float64 if family == "grad" else torch.float32, grad=family == "grad", trace=family == "contract")
    variants = [own]
    if family not in DERIVED_FROM:
        return variants
    derived = [name for name in families if name not in DERIVED_FROM and (chosen is None or name in chosen)]
    if "dtype" in derived:
        variants += [Variant("dtype", label, dtype) for label, dtype in HALVES.items()]
    if "grad" in derived:
        variants.append(Variant("grad", dtype=torch.float64, grad=True))
    if "contract" in derived:
        variants.append(Variant("contract", trace=True, compares_values=False))
    return variants


class JudgePlugin:
    """Holds the grading while pytest runs."""

    def __init__(self, grading: Grading, wanted: str, on_plan: Callable[[int], None], on_case: Callable[[CaseOutcome], None]) -> None:
        self.grading, self._wanted, self._on_plan, self._on_case = grading, wanted.lower(), on_plan, on_case
        self.outcomes: list[CaseOutcome] = []
        self.problems: list[str] = []
        self._current: CaseOutcome | None = None

    # --- collection ----------------------------------------------------------------------------------------------------

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the marks of the cases."""
        for family in FAMILIES:
            config.addinivalue_line("markers", f"{family}: a case of the family {family}")
        config.addinivalue_line("markers", "derive(*families): derive only these families from the case")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a case into its variants."""
        family = next((m.name for m in metafunc.definition.iter_markers() if m.name in FAMILIES), CORE)
        marks = list(metafunc.definition.iter_markers("derive"))
        chosen = tuple(name for mark in marks for name in mark.args) if marks else None
        variants = variants_of(family, chosen, self.grading.kata.families)
        metafunc.parametrize("variant", variants, ids=[f"{v.family}:{v.label}" for v in variants])

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Put families in the order in which they build on each other, and keep the cases that are asked for."""
        items.sort(key=lambda item: FAMILIES.index(_variant(item).family))
        if self._wanted:
            kept = [item for item in items if any(self._wanted in text.lower() for text in _names(item)[:2])]
            config.hook.pytest_deselected(items=[item for item in items if item not in kept])
            items[:] = kept
        self._on_plan(len(items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Cases that cannot be collected are the grader's own fault."""
        if report.failed:
            self.problems.append(str(report.longrepr))

    # --- running -------------------------------------------------------------------------------------------------------

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> Numbers:
        """Inputs: the same stream for each variant of a case."""
        return Numbers(self.grading.seed, _base_name(request.node))

    @pytest.fixture
    def check(self, variant: Variant, request: pytest.FixtureRequest) -> Iterator[Check]:
        """Run calls in answer and reference, and compare."""
        grading = self.grading
        grading.enter(variant.family)
        check = Check(grading, variant, Numbers(grading.seed, f"weights of {_base_name(request.node)}"), grading)
        if self._current is not None:
            self._current.check = check
        yield check
        grading.end_case()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Time a case and report it."""
        case_id, title, about = _names(item)
        self._current = CaseOutcome(case_id, _variant(item).family, title, about)
        self._current.base, self._current.function = _base_name(item), _replayable(item)
        started = time.monotonic()
        result = yield
        self._current.seconds = time.monotonic() - started
        self._current.printed = self.grading.take_printed()
        self.outcomes.append(self._current)
        self._on_case(self._current)
        self._current = None
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Run a case. What the answer does wrong ends here: pytest would spend more time on its traceback than we on the case."""
        assert self._current is not None
        try:
            arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}  # noqa: SLF001
            pyfuncitem.obj(**arguments)
        except Failure as failure:
            self._current.failure, self._current.outcome = failure, failure.outcome
        return True

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Anything else that a case raises is a fault of our own."""
        if self._current is not None and call.excinfo is not None:
            self._current.outcome = "crashed"
            self._current.internal = f"{call.excinfo.exconly()}\n{call.excinfo.getrepr(style='short')}"


def _variant(item: pytest.Item) -> Variant:
    return item.callspec.params["variant"]  # type: ignore[attr-defined,no-any-return]


def _base_name(item: pytest.Item) -> str:
    """Return the name of the function with its own parameters, without the variant."""
    name = item.originalname  # type: ignore[attr-defined]
    own = [str(value) for key, value in item.callspec.params.items() if key not in ("variant", "check")]  # type: ignore[attr-defined]
    return f"{name}[{', '.join(own)}]" if own else name


def _names(item: pytest.Item) -> tuple[str, str, str]:
    variant, base = _variant(item), _base_name(item).removeprefix("test_")
    name, _, parameters = base.partition("[")
    label = f" [{variant.label}]" if variant.label else ""
    own = f" ({parameters.removesuffix(']')})" if parameters else ""
    case_id = f"{variant.family}/{base}" + (f"[{variant.label}]" if variant.label else "")
    about = (item.function.__doc__ or "").strip().partition("\n")[0]  # type: ignore[attr-defined]
    return case_id, name.replace("_", " ") + own + label, about


def _replayable(item: pytest.Item) -> Callable[[Check, Numbers], None]:
    """Return the case as a function of ``check`` and ``rng``, for running it again with a known mistake as the answer."""
    function, params = item.function, item.callspec.params  # type: ignore[attr-defined]
    names = item._fixtureinfo.argnames  # type: ignore[attr-defined]  # noqa: SLF001
    own = {name: value for name, value in params.items() if name in names and name not in ("check", "variant")}

    def run(check: Check, rng: Numbers) -> None:
        given = own | {name: value for name, value in (("check", check), ("rng", rng)) if name in names}
        function(**given)

    return run
