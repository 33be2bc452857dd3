"""What each layer that exists for speed gives: everything is graded with it and without it, in turn.

Processor time is compared, because it depends less than the clock on what else the machine does; the clock is shown
beside it. A layer that makes two processes work at the same time shows in the clock alone.
"""

from __future__ import annotations

import itertools
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from grader import catalog
from grader.client.session import ALLOWANCE_SECONDS, Request, Session
from grader.dev.answers import known_answers
from grader.server import launch
from tests.bench.commands import KATA
from tests.bench.without import LAYERS, NOTHING

MANY = 4
SEED = 1
WAYS = ("passing", "failing", "first", "many")
_BOOTSTRAP = launch._BOOTSTRAP.replace(
    "from grader.server", "from tests.bench.without import without; without({layer!r}); from grader.server"
)
Measured = dict[tuple[str, str], list[dict[str, float]]]


class Patched:
    """A server without one layer, with a judge for single gradings and one for many."""

    def __init__(self, layer: str) -> None:
        with patch.object(launch, "_BOOTSTRAP", _BOOTSTRAP.format(layer=layer)):
            self._session = Session(model="fork")
        self._one, self._many = (self._session._new_judge(KATA, "en") for _judge in range(2))

    def grade(self, way: str, sources: list[str]) -> Iterator[dict[str, float]]:
        """Grade answers in one way; yields the work of each."""
        for source in sources:
            request = {
                "op": "grade",
                **asdict(Request(KATA, source, f"{KATA}.py")),
                "keep": True,
                "many": way == "many",
            }
            if way == "first":
                with self._session._new_judge(KATA, "en") as judge:
                    yield self._asked(judge, request | {"keep": False})
            elif way == "many":
                yield self._asked(self._many, request | {"seed": SEED})
            else:
                yield self._asked(self._one, request)

    def _asked(self, judge: Any, request: dict[str, Any]) -> dict[str, float]:
        report = self._session._ask(judge, request, lambda _event: None, ALLOWANCE_SECONDS)
        if report["verdict"] not in ("passed", "failed"):
            sys.exit(f"{KATA}: {report['verdict']}: {report['message']}")
        return report["work"]

    def close(self) -> None:
        """End the server."""
        self._one.close()
        self._many.close()
        self._session.close()


@contextmanager
def servers(layers: list[str]) -> Iterator[dict[str, Patched]]:
    """Start a server without each of these layers."""
    with ExitStack() as stack:
        there = {}
        for layer in layers:
            there[layer] = Patched(layer)
            stack.callback(there[layer].close)
        yield there


def measure(layers: list[str], repetitions: int, screen: Console) -> Measured:
    """Grade in every way with every server in turn; the first round makes judges prepare and does not count.

    The order is another one each time: whoever comes first after a change of way has been seen to be a quarter faster.
    Ctrl-C ends it, and what was measured until then is shown.
    """
    kata = catalog.find(KATA)
    known = [answer for answer in known_answers(kata) if answer.kind != "stub"]
    passing = kata.reference()
    mistakes = [answer.source for answer in known if answer.kind == "mistake"]
    mixed = [answer.source for answer in itertools.islice(known, 0, None, max(1, len(known) // MANY))]
    answers = {"passing": [passing], "failing": [mistakes[0]], "first": [passing], "many": mixed}
    found: Measured = defaultdict(list)
    with servers(layers) as there, screen.status("") as status, suppress(KeyboardInterrupt):
        for repetition in range(-1, repetitions):
            for way, (layer, server) in itertools.product(WAYS, _shuffled(there, repetition)):
                status.update(f"repetition {max(0, repetition + 1)} of {repetitions}: {way}, without {layer}")
                if repetition < 0 and way == "first":
                    continue
                works = list(server.grade(way, answers[way]))
                if repetition >= 0:
                    found[layer, way].append({key: sum(work[key] for work in works) for key in works[0]})
    return found


def _shuffled(there: dict[str, Patched], repetition: int) -> list[tuple[str, Patched]]:
    found = list(there.items())
    random.Random(repetition).shuffle(found)
    return found


def table(repetitions: int, screen: Console, chosen: list[str] | None = None) -> Table:
    """Return how much more each way of grading costs without each layer, in processor time and on the clock."""
    layers = [NOTHING, *(layer for layer in LAYERS if layer != NOTHING and (not chosen or layer in chosen))]
    found = measure(layers, repetitions, screen)
    shown = Table(title=f"{KATA} without a layer: processor time (and clock), medians of {repetitions}")
    shown.add_column("without")
    for way in ("prepared, passing", "prepared, failing", "first, passing", "many"):
        shown.add_column(way, justify="right")
    for layer in layers:
        shown.add_row(layer, *(_cell(found, layer, way) for way in WAYS))
    return shown


def _cell(found: Measured, layer: str, way: str) -> str:
    # Sandboxes that wait are ready before a grading begins; of many answers everything counts.
    key = "whole" if way == "many" else "grading"
    mine, base = found[layer, way], found[NOTHING, way]
    if not mine or not base:
        return "-"
    if layer == NOTHING:
        middle = [statistics.median(work[name] for work in base) for name in (key, "seconds")]
        return "{:.0f} ms ({:.0f})".format(*(1000 * value for value in middle))
    ratios = [
        statistics.median(one[name] / other[name] for one, other in zip(mine, base, strict=False)) - 1
        for name in (key, "seconds")
    ]
    return "{:+.0%} ({:+.0%})".format(*ratios)
