"""Where an answer makes one of several mistakes: beside a reference that makes the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.choice import wrong_call
from grader.judge.explain.locate.find import locate
from grader.judge.explain.locate.traces import of_reference
from grader.judge.explain.locate.words import Located
from grader.judge.explain.locate.wrong import wrong_results
from grader.judge.explain.mistakes import Mistake, all_applied
from grader.judge.runs.outcome import CaseOutcome
from grader.transport.wire import tensors_in


def locate_beside(case: CaseOutcome, source: str, others: Sequence[Mistake]) -> Located | None:
    """Return where a failing case goes wrong by something else than these mistakes; None where that cannot be told."""
    check, exchange, failure = case.check, wrong_call(case), case.failure
    if check is None or exchange is None or failure is None:
        return None
    text = next(all_applied(others, check.grading.reference.text), None)
    if text is None:
        return None
    with _instead_of_the_reference(check, exchange, text) as is_there:
        if not is_there or (failure.kind == "value" and not wrong_results(exchange.value, exchange.want, exchange)):
            return None  # the others do all of it
        leaves = [len(list(tensors_in(value))) for value in (exchange.value, exchange.want)]
        return locate(case, source, by_numbers=failure.group == "structure" and leaves[0] == leaves[1])


@contextmanager
def _instead_of_the_reference(check: Check, exchange: Exchange, text: str) -> Iterator[bool]:
    """Expect of a call what another text returns, meanwhile; yields whether it returns anything."""
    expected = exchange.want
    try:
        with check.beside(text):
            found = of_reference(check, exchange)
            exchange.want = found.result if found is not None and expected is not None else None
            yield found is not None
    finally:
        exchange.want = expected
