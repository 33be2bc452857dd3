"""Which ways only those calls go that fail: a condition that comes out as in no call that passes, and what it leads to.

Within a wide place that is where to look; alone it is no place. One call that passes may go there all the same: what is
wrong need not matter to each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.choice import wrong_call
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.failure import MOST_LINES, Failure
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.verdict.expected import MALFORMED
from grader.judge.workers.pending import MustResubmit
from grader.language import _
from grader.probes.ways import OUTSIDE
from grader.sandbox.named import WAYS

Step = tuple[int, int]
"""Two statements that ran one after the other in one function, by their lines; OUTSIDE before the first of them."""

MOST_PASSING: Final = 12
"""So many passing cases are made once more."""
MOST_FAILING: Final = 3
MOST_CALLS: Final = 6
"""A case of more calls is not made once more."""
LARGEST: Final = 4000
MOST_FOLLOWED: Final = 40
"""So many failing cases are followed to see whether they come to a place."""
LEAST_PASSING: Final = 3
"""Fewer calls that pass tell nothing."""


class Ways:
    """The ways of an answer's calls, each of the passing ones looked up once."""

    def __init__(self, source: str, passing: Sequence[CaseOutcome]) -> None:
        self._source, self._passing = source, passing
        self._flow, self._statements = flow_of(source), statements_of(source)
        self._known: dict[CaseOutcome, tuple[frozenset[Step], int]] = {}

    def narrowed(self, place: Located, cases: Sequence[CaseOutcome]) -> Located:
        """Return a wide place, or one with more around it, without what calls that pass do as well."""
        if len(place.lines) <= FEW and not place.left_out:
            return place
        only, new = self.of_failing_only([place.case, *cases])
        both = tuple(line for line in only if line in place.lines + place.left_out)
        if len(place.lines) <= FEW and (both != only or not set(only) & set(place.lines)):
            return place  # what is narrow is not given up for what lies elsewhere
        lines = only if len(only) <= FEW else both
        if not both or len(lines) >= len(place.lines):
            return place
        return replace(place, lines=lines, sentence=_said(place.sentence, lines, new))

    def accepted(self, place: Located, cases: Sequence[CaseOutcome]) -> Located:
        """Return a place at which nothing is refused with where only such calls go: the nearest thing to a check."""
        only, new = self.of_failing_only([place.case, *cases])
        begins = [line for line in place.lines if self._flow.at(line).begins]
        checks = [line for line in place.lines if line not in begins]
        lines = tuple(dict.fromkeys((*checks, *only, *begins)))[: max(FEW, len(place.lines))]
        if not only or lines == place.lines:
            return place
        return replace(place, lines=lines, sentence=_said(place.sentence, only, new))

    def of_failing_only(self, cases: Sequence[CaseOutcome]) -> tuple[tuple[int, ...], frozenset[int]]:
        """Return the statements that run only where these cases fail, and the conditions that lead there.

        The second has those that calls that pass never come to.
        """
        looked_at = [
            case for case in dict.fromkeys(cases) if (call := wrong_call(case)) and call.header["op"] == "call"
        ]
        only, right, model = frozenset[Step](), frozenset[Step](), ""
        for case in looked_at[:MOST_FAILING]:
            call, check = wrong_call(case), case.check
            assert call is not None
            assert check is not None
            model = check.grading.reference_text
            own = self._gone(check, [call])
            only = own & only or own
            before = _calls(check.exchanges[: check.exchanges.index(call)])
            right |= self._gone(check, before[-MOST_CALLS:])
        count, once = 0, frozenset[Step]()
        for case in self._like(looked_at[0]) if looked_at else ():
            if only <= right - once:  # calls that pass do all of it
                return (), frozenset()
            taken, calls = self._passed(case)
            once = (once | (taken - right)) - (taken & right)
            right, count = right | taken, count + calls
        if count < LEAST_PASSING:
            return (), frozenset()
        found = self._told(only - right, right, model)
        return found if found[0] else self._told(only & once, right - once, model)

    def come_to(self, place: Located, cases: Sequence[CaseOutcome]) -> list[CaseOutcome]:
        """Return the cases whose calls come to a line of a place, and those of which that is not known.

        Lines at which a module is built are come to by all of them, and tell nothing.
        """
        ran = self._lines_of(place.case) & set(place.lines)
        if not ran:
            return [*cases]
        others: dict[str, CaseOutcome] = {}
        for case in cases:
            others.setdefault(case.case.stream, case)
        others.pop(place.case.case.stream, None)  # it comes there
        followed = ((stream, self._lines_of(case)) for stream, case in [*others.items()][:MOST_FOLLOWED])
        elsewhere = {stream for stream, lines in followed if lines and not lines & ran}
        return [case for case in cases if case.case.stream not in elsewhere]

    def _lines_of(self, case: CaseOutcome) -> set[int]:
        """Return the statements that run in the calls of a failing case; none where these are many or large."""
        call, check = wrong_call(case), case.check
        if call is None or check is None or call.header["op"] != "call":
            return set()
        every = [e for e in check.exchanges[: check.exchanges.index(call) + 1] if e.header["op"] == "call"]
        if len(every) > MOST_CALLS or len(_calls(every)) < len(every):
            return set()
        return {line for step in self._gone(check, every) for line in step if line != OUTSIDE}

    def _told(
        self, only: frozenset[Step], right: frozenset[Step], model: str
    ) -> tuple[tuple[int, ...], frozenset[int]]:
        theirs = flow_of(model)
        ran = {line for step in right for line in step}
        heads = [first for first, _then in only if first and self._flow.at(first).is_head]
        new = [line for step in only for line in step if line and line not in ran]
        every = [self._flow.at(line) for line in sorted({*heads, *new})]
        own = {one.line for one in every if self._flow.is_own(one.line, theirs)}
        beneath = {one.line for one in every if one.heads and one.heads[-1] in own}
        lines = tuple(one.line for one in every if one.line in own | beneath and not one.begins)
        return lines, frozenset(new)

    def _passed(self, case: CaseOutcome) -> tuple[frozenset[Step], int]:
        """Return the steps of the calls of a case that passes, and how many these are."""
        if case not in self._known:
            check = case.evidence.checked
            calls = _calls(check.exchanges) if check is not None else []
            calls = calls if len(calls) <= MOST_CALLS else []
            self._known[case] = (self._gone(check, calls), len(calls)) if check is not None else (frozenset(), 0)
        return self._known[case]

    def _like(self, case: CaseOutcome) -> list[CaseOutcome]:
        """Return passing cases on the device of one, as various as they come: of each function one in each family."""
        found: dict[tuple[str, str, str], CaseOutcome] = {}
        for other in self._passing:
            if other.variant.device == case.variant.device and not other.case.large and not other.case.trains:
                key = (other.family, other.case.name, other.variant.label if other.family == "dtype" else "")
                found.setdefault(key, other)
        every = list(found.values())
        share = max(1, -(-len(every) // MOST_PASSING))
        return every[::share]

    def _gone(self, check: Check, calls: Sequence[Exchange]) -> frozenset[Step]:
        """Have some calls of a run made once more, with all that leads to them; the steps that were taken."""
        if not calls:
            return frozenset()
        wanted = {id(call) for call in calls}
        until = max(check.exchanges.index(call) for call in calls) + 1
        worker = check.grading.answer.worker(check.variant.family, device=check.variant.device)
        found = set[Step]()
        try:
            asked = []
            for other in check.exchanges[:until]:
                (header, tensors), is_wanted = other.sent, id(other) in wanted
                asked.append((worker.submit(header | ({"op": WAYS} if is_wanted else {}), tensors), is_wanted))
            for pending, is_wanted in asked:
                reply, _tensors = worker.wait(pending)
                if is_wanted and reply["kind"] == WAYS:
                    found |= self._read(reply["taken"])
        except (Failure, MustResubmit, *MALFORMED):
            return frozenset(found)
        return frozenset(found)

    def _read(self, taken: object) -> set[Step]:
        """Read which lines ran one after the other. Raises ValueError where that breaks the rules."""
        if type(taken) is not list:
            raise ValueError
        found = set[Step]()
        for pair in taken:
            if type(pair) is not list or any(type(line) is not int or not 0 <= line < MOST_LINES for line in pair):
                raise ValueError
            first, then = (self._flow.at(line).line if line else OUTSIDE for line in pair)
            if first != then:
                found.add((first, then))
        return found


def _said(before: str, lines: Sequence[int], new: frozenset[int]) -> str:
    """Say which statements no call that passes comes to; else from which of them it goes on in another way."""
    if alone := [line for line in lines if line in new]:
        return _("{steps} Only calls that fail come to {where}.").format(steps=before, where=listed(alone))
    return _("{steps} Only calls that fail go on like that from {where}.").format(steps=before, where=listed(lines))


def _calls(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [call for call in exchanges if call.settled and call.header["op"] == "call" and call.size <= LARGEST]
