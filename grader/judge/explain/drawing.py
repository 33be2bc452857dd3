"""What `kata show --weights` draws: what an answer computes of a small example, whatever it is worth."""

from __future__ import annotations

import inspect
import math
import runpy
from collections.abc import Sequence
from dataclasses import dataclass
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
MOST_POINTS: Final = 1000
Drawn = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Curve:
    """Numbers one after the other: a loss by the steps of a training."""

    steps: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, to be read as they are."""

    lines: Sequence[str]


def drawings(grading: Grading, file: Path, *, model: bool) -> dict[str, Any]:
    """Return what an answer's own code computes of the example of a kata, and the model answer where it is wanted.

    ``file`` is the kata's ``drawing.py``. An answer that fails has a sentence instead. A kata whose answer is trained
    for its drawing is not trained twice: there the model answer is left out.
    """
    document: dict[str, Any] = {"failure": "", "yours": [], "model": []}
    try:
        losses: dict[int, float] = {}
        grading.answer.on_training = lambda step, _steps, loss: losses.__setitem__(step, loss)
        document["yours"] = drawn(grading, file, grading.answer.worker("core"), losses)
    except Failure as failure:
        document["failure"] = failure.message + (
            f" ({_('line {line}').format(line=failure.line)})" * bool(failure.line)
        )
    if model and "losses" not in _wanted(file):
        document["model"] = drawn(grading, file, StandIn(Local(grading.reference_text, grading.kata.filename)))
    return document


def drawn(grading: Grading, file: Path, backend: Backend, losses: dict[int, float] | None = None) -> list[Drawn]:
    """Return what an implementation computes of the example of a kata. Raises Failure where it does not.

    ``losses``: those of the training that the example has, by steps; filled while it runs.
    """
    function = runpy.run_path(str(file))["drawing"]
    found: list[Drawn] = []

    def case(check: Any, rng: Numbers) -> None:
        given = {"check": check, "rng": rng, "losses": losses if losses is not None else {}}
        wanted = {name: given[name] for name in inspect.signature(function).parameters}
        for label, part in function(**wanted).items():
            if isinstance(part, Curve):
                finite = [(at, one) for at, one in zip(part.steps, part.values, strict=True) if math.isfinite(one)]
                points = [[at, one] for at, one in finite[:MOST_POINTS]]
                found.append({"kind": "curve", "label": label, "points": points})
            elif isinstance(part, Lines):
                found.append({"kind": "lines", "label": label, "lines": list(part.lines)})
            else:
                result, rows, columns = part
                found.append(_map(label, got(result), rows, columns))

    outcome = CaseOutcome(Case("drawing", "", "", "core", 0, case), Variant("core", dtype=torch.float64))
    play(outcome, grading, live(outcome, grading, backend, judges=False))
    return found


def _wanted(file: Path) -> list[str]:
    return list(inspect.signature(runpy.run_path(str(file))["drawing"]).parameters)


def _map(label: str, result: Any, rows: Sequence[str], columns: Sequence[str]) -> Drawn:
    """Return maps of numbers with the names of their rows and columns: one, or one for each head. Raises Failure."""
    if not isinstance(result, torch.Tensor) or result.dim() < 2 or not result.numel():
        kind = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        sentence = _("{label} cannot be drawn: rows and columns are needed, not {kind}")
        raise Failure("value", sentence.format(label=label, kind=kind))
    maps = result.detach().double().reshape(-1, *result.shape[-2:])
    shown = maps[:MOST_MAPS, :MOST_PLACES, :MOST_PLACES]
    return {
        "kind": "map",
        "label": label,
        "shape": list(result.shape),
        "rows": _names(rows, shown.shape[1]),
        "columns": _names(columns, shown.shape[2]),
        "maps": [written(one) for one in shown],
    }


def _names(names: Sequence[str], count: int) -> list[str]:
    """Return as many names as there are: numbers where the answer has another number of them."""
    return [str(name) for name in names] if len(names) == count else [str(place) for place in range(count)]
