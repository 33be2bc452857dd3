"""Which lines do the work that the reference does not do."""

from __future__ import annotations

from collections import Counter
from typing import Final

from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import work_of_answer, work_of_reference
from grader.judge.explain.locate.words import Located, listed
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.language import _

MOST_OF_IT: Final = 0.6


def most_of_it(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find who asks for most of the work beyond that of the reference: the outermost line, and the innermost."""
    del exchange
    assert case.check is not None
    calls = [other for other in failed_after(case) if other.header["op"] == "call" and other.cost is not None]
    if not calls:
        return None
    call = max(calls, key=lambda other: other.cost.work if other.cost is not None else 0)
    mine, theirs = work_of_answer(case.check, call), work_of_reference(case.check, call)
    if mine is None or theirs is None:
        return None
    spare = Counter[int]()
    for (_lines, work), count in theirs.items():
        spare[work] += count
    more = Counter[tuple[int, ...]]()
    for (lines, work), count in sorted(mine.items(), key=lambda item: item[0][0]):
        granted = min(count, spare[work])  # the reference does something just as large
        spare[work] -= granted
        more[tuple(statements.of(line) for line in lines)] += work * (count - granted)
    total = sum(more.values())
    way: tuple[int, ...] = ()
    while total:
        shares: Counter[int] = Counter()
        for lines, work in more.items():
            if lines[: len(way)] == way and len(lines) > len(way):
                shares[lines[len(way)]] += work
        line, share = max(shares.items(), key=lambda item: item[1], default=(0, 0))
        if share < MOST_OF_IT * total:
            break
        way = (*way, line)
    if not way:
        return None
    lines = tuple(dict.fromkeys((way[-1], *way[-2:], way[0])))
    sentence = _("Most of the work that is too much is done in {where}.").format(where=listed(lines))
    return Located(case, lines, sentence, _("more work is done than is needed"))
