"""What `kata show --weights` draws: what an answer computes of a small example, whatever it is worth."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch

from grader.judge.cases.case import Case
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading
from grader.judge.exchange.arguments import got
from grader.judge.explain.picture import written
from grader.judge.explain.reproduce import StandIn
from grader.judge.failure import Failure
from grader.judge.runs.lives import live, play
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.workers.backend import Backend, Local
from grader.language import _

MOST_MAPS: Final = 8
MOST_PLACES: Final = 64
Drawn = dict[str, Any]


def drawings(grading: Grading, file: Path, *, model: bool) -> dict[str, Any]:
    """Return what an answer's own code computes of the example of a kata, and the model answer where it is wanted.

    ``file`` is the kata's ``drawing.py``. An answer that fails has a sentence instead.
    """
    document: dict[str, Any] = {"failure": "", "yours": [], "model": []}
    try:
        document["yours"] = drawn(grading, file, grading.answer.worker("core"))
    except Failure as failure:
        document["failure"] = failure.message + (
            f" ({_('line {line}').format(line=failure.line)})" * bool(failure.line)
        )
    if model:
        document["model"] = drawn(grading, file, StandIn(Local(grading.reference_text, grading.kata.filename)))
    return document


def drawn(grading: Grading, file: Path, backend: Backend) -> list[Drawn]:
    """Return what an implementation computes of the example of a kata. Raises Failure where it does not."""
    function = runpy.run_path(str(file))["drawing"]
    found: list[Drawn] = []

    def case(check: Any, rng: Numbers) -> None:
        given = {"check": check, "rng": rng}
        wanted = {name: given[name] for name in inspect.signature(function).parameters}
        for label, (result, rows, columns) in function(**wanted).items():
            found.append(_map(label, got(result), rows, columns))

    outcome = CaseOutcome(Case("drawing", "", "", "core", 0, case), Variant("core", dtype=torch.float64))
    play(outcome, grading, live(outcome, grading, backend, judges=False))
    return found


def _map(label: str, result: Any, rows: Sequence[str], columns: Sequence[str]) -> Drawn:
    """Return maps of numbers with the names of their rows and columns: one, or one for each head. Raises Failure."""
    if not isinstance(result, torch.Tensor) or result.dim() < 2 or not result.numel():
        kind = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        sentence = _("{label} cannot be drawn: rows and columns are needed, not {kind}")
        raise Failure("value", sentence.format(label=label, kind=kind))
    maps = result.detach().double().reshape(-1, *result.shape[-2:])
    shown = maps[:MOST_MAPS, :MOST_PLACES, :MOST_PLACES]
    return {
        "label": label,
        "shape": list(result.shape),
        "rows": _names(rows, shown.shape[1]),
        "columns": _names(columns, shown.shape[2]),
        "maps": [written(one) for one in shown],
    }


def _names(names: Sequence[str], count: int) -> list[str]:
    """Return as many names as there are: numbers where the answer has another number of them."""
    return [str(name) for name in names] if len(names) == count else [str(place) for place in range(count)]
