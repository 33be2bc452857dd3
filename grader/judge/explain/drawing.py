"""What `kata show --weights` draws: what an answer computes of a small example, whatever it is worth."""

from __future__ import annotations

import inspect
import math
import runpy
from collections.abc import Callable, Sequence
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
from grader.judge.workers.backend import Backend, loaded
from grader.language import _

MOST_MAPS: Final = 8
MOST_PLACES: Final = 64
MOST_POINTS: Final = 1000
LOSSES: Final = "losses"
"""The argument by which an example says that it trains."""
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
    example, losses = example_in(file), dict[int, float]()
    grading.answer.on_training = lambda step, _steps, loss: losses.__setitem__(step, loss)
    try:
        document["yours"] = drawn(grading, example, grading.answer.worker("core"), losses)
    except Failure as failure:
        with_line = _("{message} (line {line})").format(message=failure.message, line=failure.line)
        document["failure"] = with_line if failure.line else failure.message
    if model and LOSSES not in inspect.signature(example).parameters:
        document["model"] = drawn(grading, example, StandIn(loaded(grading.reference_text, grading.kata.filename)))
    return document


def example_in(file: Path) -> Callable[..., dict[str, Any]]:
    """Return the function of a ``drawing.py``."""
    function: Callable[..., dict[str, Any]] = runpy.run_path(str(file))["drawing"]
    return function


def drawn(
    grading: Grading, example: Callable[..., dict[str, Any]], backend: Backend, losses: dict[int, float] | None = None
) -> list[Drawn]:
    """Return what an implementation computes of the example of a kata. Raises Failure where it does not.

    ``losses``: those of the training that the example has, by steps; filled while it runs.
    """
    found: list[Drawn] = []

    def case(check: Any, rng: Numbers) -> None:
        given = {"check": check, "rng": rng, LOSSES: losses if losses is not None else {}}
        wanted = {name: given[name] for name in inspect.signature(example).parameters}
        found.extend(_part(label, part) for label, part in example(**wanted).items())

    outcome = CaseOutcome(Case("drawing", "", "", "core", 0, case), Variant("core", dtype=torch.float64))
    play(outcome, grading, live(outcome, grading, backend, judges=False))
    return found


def _part(label: str, part: Any) -> Drawn:
    if isinstance(part, Curve):
        finite = [[at, one] for at, one in zip(part.steps, part.values, strict=True) if math.isfinite(one)]
        return {"kind": "curve", "label": label, "points": finite[:MOST_POINTS]}
    if isinstance(part, Lines):
        return {"kind": "lines", "label": label, "lines": list(part.lines)}
    result, rows, columns = part
    return _map(label, got(result), rows, columns)


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
