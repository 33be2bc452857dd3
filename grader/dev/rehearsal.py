"""A kata's cases with its reference in the place of the answer: in this process, without pytest or a sandbox."""

from __future__ import annotations

import inspect
import itertools
import runpy
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.judge.cases.case import Case, traits_of
from grader.judge.cases.check import Check
from grader.judge.cases.collect import files_in, importing_each_other
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading, Reference
from grader.judge.failure import Failure
from grader.judge.runs.lives import again
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.runs.plan import Plan
from grader.judge.workers.backend import Header, Tensors, loaded, reply_of
from grader.judge.workers.pending import Reply

SEED: Final = 3


class Witness:
    """The reference in the place of the answer; ``watching`` is entered whenever its code runs."""

    def __init__(self, source: str, filename: str, watching: AbstractContextManager[None]) -> None:
        self._watching = watching
        with watching:
            self._executor = loaded(source, filename)

    def submit(self, header: Header, tensors: Tensors) -> Reply:
        """Do one operation; what it raises is a reply as an answer's would be."""
        with self._watching:
            return reply_of(self._executor, header, tensors)

    def wait(self, asked: Any) -> Reply:
        """Return what was done already."""
        done: Reply = asked
        return done


def rehearse(kata: Kata, watching: AbstractContextManager[None]) -> Iterator[str]:
    """Run all cases but those that count or train; yields what the reference itself does wrong, a sentence each.

    And what keeps a judge from preparing a grading: it would grade all the same, and take longer.
    """
    yield from rehearse_with(kata, kata.reference(), watching)
    grading = Grading(Reference(kata), SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for _step in Plan(SEED).steps(grading, list(cases_of(kata))):
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the author of the kata must hear of it
            yield f"no grading can be prepared: {type(error).__name__}: {error}"


def rehearse_with(
    kata: Kata,
    source: str,
    watching: AbstractContextManager[None],
    on_case: Callable[[CaseOutcome], None] = lambda _case: None,
    seed: int = SEED,
) -> Iterator[str]:
    """Run all cases but those that count or train with a source; yields what it does wrong, a sentence each."""
    grading = Grading(Reference(kata), seed)
    witness = Witness(source, str(kata.solution / "reference.py"), watching)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases_of(kata):
            if case.family == "cost" or case.trains:
                continue
            outcome = CaseOutcome(case, Variant(case.family, dtype=torch.float64))
            on_case(outcome)
            try:
                again(outcome, grading, witness)
            except Failure as failure:
                yield f"{case.name}: the reference fails: {failure}"


def cases_of(kata: Kata) -> Iterator[Case]:
    """Yield the cases of a kata as pytest would collect them."""
    files = files_in(kata.solution)
    for file in files:
        with importing_each_other(files):
            found = runpy.run_path(str(file))
        for name, function in found.items():
            if not (name.startswith("test_") and callable(function)):
                continue
            marks = getattr(function, "pytestmark", [])
            for position, given in enumerate(_parameters(marks)):
                text, run = ", ".join(map(str, given.values())), _with(function, given)
                about = function.__doc__ or ""
                yield Case(name, text, about, position=position, function=run, **traits_of(marks))


def _parameters(marks: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield what ``pytest.mark.parametrize`` gives a case: one set of arguments for each time that it runs."""
    axes = []
    for mark in marks:
        if mark.name == "parametrize":
            names, values = mark.args
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
            axes.append([dict(zip(names, _values(value, len(names)), strict=True)) for value in values])
    for chosen in itertools.product(*axes):
        yield {name: value for one in chosen for name, value in one.items()}


def _values(value: Any, names: int) -> tuple[Any, ...]:
    if hasattr(value, "marks"):  # a pytest.param
        return tuple(value.values)
    return tuple(value) if names > 1 else (value,)


def _with(function: Callable[..., None], given: dict[str, Any]) -> Callable[[Check, Numbers], None]:
    def run(check: Check, rng: Numbers) -> None:
        everything = given | {"check": check, "rng": rng}
        function(**{name: everything[name] for name in inspect.signature(function).parameters})

    return run
