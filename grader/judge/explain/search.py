"""Gives each failing case of a grading to one cause, and finds out where that is in the answer."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from grader.judge.explain.cause import LOCATED, SEEN, Cause, ordered
from grader.judge.explain.diagnosis import Diagnosis
from grader.judge.explain.few import asks_for_much, entry_of
from grader.judge.explain.levels import by_factor
from grader.judge.explain.locate.as_named import locate_named
from grader.judge.explain.locate.choice import chosen
from grader.judge.explain.locate.defaults import drops_by_default, is_left_to_chance
from grader.judge.explain.locate.find import locate
from grader.judge.explain.locate.in_words import (
    locate_asking,
    locate_elsewhere,
    locate_in_words,
    locate_number,
    locate_refusal,
)
from grader.judge.explain.locate.kept import by_itself, kept_in
from grader.judge.explain.locate.quoted import with_likest
from grader.judge.explain.locate.several import locate_beside
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.ways import Ways
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.explain.mistakes import Mistake
from grader.judge.runs.outcome import CaseOutcome
from grader.sandbox.named import MOST_SENT

MOST_LOOKED_AT: Final = 10
"""So many failing cases are run once more with their steps recorded."""
MOST_ALONE: Final = 2
"""So many of them are run once more alone, in a process of their own, where an answer keeps something."""
MOST_FOR_ONE: Final = 3
"""So many of them for one place, where the first ones tell a wide one: each is right for its own case."""
MUCH_SMALLER: Final = 4
"""Beside a call that tells a wide place one of so many times fewer numbers is looked at."""
CHEAP: Final = 150
"""Where one has taken more steps than so many, others like it are not looked at for a narrower place."""
MOST_LINES_OF_A_NAME: Final = 10
"""More lines than so many tell nothing beside a name."""
MOST_LINES_OF_A_WAY: Final = 6
"""Nor beside what an answer depends on."""
OF_NO_NUMBER: Final = ("dtype", "device", "missing")
"""Failures that no number is to blame for, nor is one for an attribute that is not there."""
MOST_OF_THEM: Final = 2 / 3
NOT_THERE: Final = re.compile(r" has no (?:attribute )?`?(\w+)`?$")
"""How it is said that something is not there, and what."""
FEW_NUMBERS: Final = 48
"""A call of so few numbers is taken in at a glance."""


class Search:
    """Gives each failing case to one cause."""

    def __init__(
        self, failing: list[CaseOutcome], passing: list[CaseOutcome], source: str, right: list[CaseOutcome]
    ) -> None:
        """``right``: all cases that pass, none where they are not the most."""
        self._ways, self._most_pass = Ways(source, right), bool(right)
        self._failing, self._left, self._passing, self._source = failing, failing, passing, source
        self._looks, self._alone = MOST_LOOKED_AT, MOST_ALONE
        self._known: dict[tuple[CaseOutcome, tuple[str, ...]], Located | None] = {}

    def named(self, diagnosis: Diagnosis, every: Sequence[Diagnosis]) -> Cause | None:
        """Take the cases in which a mistake does what the answer did, and what is derived from them.

        Mistakes that only together do what the answer did have these cases in common. ``every``: all that are told.
        """
        beside = diagnosis.beside
        others = tuple(one.mistake for one in every if one is not diagnosis and one.together and diagnosis.together)
        its = [case for case in (self._failing if beside else self._left) if case.id in diagnosis.cases]
        if not its:
            return None
        family = diagnosis.mistake.family
        own = [case for case in its if case.family == family] or its
        shared = {case for one in every if one is not diagnosis for case in one.cases}
        own = [case for case in own if case.id not in shared] or own
        own = [case for case in own if case.failure is None or case.failure.group != "modified"] or own
        if beside and "NaN" in diagnosis.mistake.title["en"]:  # which the others do not show
            own = [case for case in its if case.failure is not None and "NaN" in case.failure.message] or own
        place = self._as_named(own, diagnosis.mistake) if not (beside or others) else None
        place = place or self._look(own, beside or others) or self._look(its, beside)
        place = place if place is not None and len(place.lines) <= MOST_LINES_OF_A_NAME else None
        with_line = next((case for case in own if case.failure is not None and case.failure.line), None)
        if place is None and with_line is not None:
            place = self._look([with_line], beside or others)
            place = place if place is not None and len(place.lines) <= FEW else None
        if with_line is None if place is None else len(place.lines) > FEW:
            narrow = place if place is not None and len(place.lines) <= MOST_LINES_OF_A_WAY else None
            place = locate_in_words(own, self._source, diagnosis.mistake, narrow) or place
        if place is not None:
            place = locate_elsewhere(own, self._source, diagnosis.mistake, place) or place
        evidence = _telling(own, place) if place is not None else with_line or own[0]
        place = with_likest(place, evidence, self._source, diagnosis.mistake.edits)
        streams = {case.case.stream for case in its}
        called = {case.failure.message for case in its if case.failure is not None and case.is_out_of_bounds}
        taken = self._take(
            case
            for case in self._left
            if case in its
            or case.case.stream in streams
            or (case.is_out_of_bounds and case.failure is not None and case.failure.message in called)
        )
        return Cause(diagnosis.mistake.id, ordered({*taken, *its}), evidence, diagnosis, place)

    def _as_named(self, cases: list[CaseOutcome], mistake: Mistake) -> Located | None:
        """Find out where a named mistake is made, by what the reference makes with it."""
        case = chosen(cases)
        if case is None:
            return None
        place = locate_named([case, *(one for one in cases if one is not case)], self._source, mistake)
        most = MOST_LINES_OF_A_NAME if place is not None and place.is_open else FEW
        return place if place is not None and len(place.lines) <= most else None

    def by_levels(self) -> list[Cause]:
        """Take the cases that fail on one way through them only: what the answer depends on.

        A call without gradients that is right alone fails by what an earlier one has left, whoever asks for gradients.
        """
        found: dict[str, Cause] = {}
        by_default = [case for case in self._left if is_left_to_chance(case, self._source)]
        if by_default and (place := drops_by_default(by_default[0], self._source)) is not None:
            found["default"] = Cause(LOCATED, self._take(by_default), by_default[0], located=place)
        for factor, its in list(by_factor(self._failing, self._left)):
            kept = self._kept(its) if factor == "gradients" else None
            name = factor if kept is None else "before"
            place = kept or self._look(its)
            asking = locate_asking(its, self._source, factor)
            if (
                place is None
                or len(place.lines) > MOST_LINES_OF_A_WAY
                or (asking and factor == "gradients" and not kept)
            ):
                place = asking
            evidence = place.case if place is not None and place.case.needs else its[0]
            cause, other = Cause(name, self._take(its), evidence, located=place), found.get(name)
            found[name] = replace(other, cases=ordered((*other.cases, *cause.cases))) if other else cause
        return list(found.values())

    def located(self) -> list[Cause]:
        """Take the cases that go wrong at places that are known, those first that are most.

        What is written into an argument comes first: a wider place around that line goes wrong for it.
        """
        found: dict[tuple[tuple[int, ...], bool], Cause] = {}
        """By its lines, and whether something is raised there, other than that an argument may not be written into."""
        known: dict[str, Located] = {}
        """Of each kind but errors, each of which has a line of its own."""
        written: dict[int, Located] = {}
        """The lines that write into arguments."""
        groups = Counter(map(_group, self._left))
        left = deque(sorted(groups, key=lambda group: (group[0] != "modified", -groups[group])))
        while left:
            kind, _family, writes = group = left.popleft()
            its = [case for case in self._left if _group(case) == group]
            refused = written.get(its[0].failure.line) if kind == "error" and writes and its[0].failure else None
            place = refused or self._look(its) or (known.get(kind) if self._looks <= 0 else None)
            every, its = its, self._ways.come_to(place, its) if place is not None and kind == "value" else its
            if place is None or not its:
                continue
            if len(its) < len(every):  # the others go wrong elsewhere
                left.append(group)
            if kind != "error":
                known.setdefault(kind, place)
            if kind == "modified":
                written |= dict.fromkeys(place.lines, place)
            elif writes:
                place = next((written[line] for line in place.lines if line in written), place)
            taken, key = self._take(its), (place.lines, kind == "error" and not writes)
            key = next((one for one in found if one[1] == key[1] and _are_much_the_same(one[0], key[0])), key)
            other = found.get(key)
            found[key] = Cause(
                LOCATED,
                (*(other.cases if other else ()), *taken),
                other.evidence if other else _telling(its, place),
                located=other.located if other else place,
            )
        return _without_wider(sorted(found.values(), key=lambda cause: -len(cause.cases)))

    def seen(self) -> list[Cause]:
        """Take what is left, by line and kind; what is not there is one cause, however it was asked for."""
        groups: dict[tuple[int, str], list[CaseOutcome]] = {}
        for case in sorted(self._left, key=lambda case: case.failure is None or case.failure.kind != "missing"):
            assert case.failure is not None
            lacking = NOT_THERE.search(case.failure.message) if not _line(case) else None
            groups.setdefault((_line(case), lacking[1] if lacking else case.failure.kind), []).append(case)
        self._left = []
        return [self._seen(line, tuple(cases)) for (line, _kind), cases in groups.items()]

    def _seen(self, line: int, cases: tuple[CaseOutcome, ...]) -> Cause:
        """Return a cause that has no place; of an answer that is right nearly everywhere, a number may be one."""
        failure = cases[0].failure
        may_be_one = (
            failure is not None and failure.group not in OF_NO_NUMBER and "AttributeError" not in failure.message
        )
        place = locate_number(cases, self._source) if not line and self._most_pass and may_be_one else None
        if place is not None:
            return Cause(SEEN, cases, cases[0], located=replace(place, title=cases[0].title))
        return Cause(SEEN, cases, cases[0], located=locate_refusal(cases, self._source))

    def _look(self, cases: list[CaseOutcome], beside: Sequence[Mistake] = ()) -> Located | None:
        """Find out where one of these cases goes wrong, as long as there are looks left.

        ``beside``: mistakes that the answer makes as well, which are looked for by themselves.
        """
        left = cases
        place = self._kept(cases) if not beside else None
        if place is not None:
            return place
        names = tuple(mistake.id for mistake in beside)
        wide = False
        for _again in range(MOST_FOR_ONE):
            case = chosen(left)
            costs = 0 if case is not None and case.failure is not None and case.failure.kind == "no-error" else 1
            if case is None or ((case, names) not in self._known and self._looks < costs):
                break
            if (case, names) not in self._known:
                self._looks -= costs
                is_alone = not beside or not costs
                self._known[case, names] = (
                    locate(case, self._source, self._passing) if is_alone else locate_beside(case, self._source, beside)
                )
            other = self._known[case, names]
            if place is None or (
                other is not None and other.breadth < place.breadth and _is_within(other, place, wide)
            ):
                place = other
            if place is None or other is None or place.breadth <= (False, FEW):
                break
            if other.looked_through > CHEAP:
                if len(place.lines) <= MOST_LINES_OF_A_WAY:
                    break
                left = [one for one in left if _is_much_smaller(one, case)]
                wide = other.looked_through < MOST_SENT  # else not all of it was seen
            alike = case.family, case.variant.dtype  # where numbers are rounded otherwise, other steps look right
            left = [one for one in left if (one.family, one.variant.dtype) == alike]
            left = [one for one in left if one.case.stream != case.case.stream]
        if place is None or not place.is_place:
            return None
        accepted = place.case.failure is not None and place.case.failure.kind == "no-error"
        return (self._ways.accepted if accepted else self._ways.narrowed)(place, cases)

    def _kept(self, cases: list[CaseOutcome]) -> Located | None:
        """Find out whether one of these cases fails by what an earlier call has left, as often as there is time for."""
        case = chosen(cases) or next(iter(cases), None)
        if case is None or self._alone <= 0 or not kept_in(self._source):
            return None
        self._alone -= 1
        return by_itself(case, statements_of(self._source))

    def _take(self, cases: Iterable[CaseOutcome]) -> tuple[CaseOutcome, ...]:
        taken = tuple(cases)
        self._left = [case for case in self._left if case not in taken]
        return ordered(taken)


def _line(case: CaseOutcome) -> int:
    """Return the line of a failure; 0 for what never ends, since it is cut off wherever it happens to be."""
    failure = case.failure
    assert failure is not None
    return 0 if failure.kind == "timeout" or "RecursionError" in failure.message else failure.line


def _writes(case: CaseOutcome) -> bool:
    """Whether a failing case writes into what it was given, or is refused that: else it fails for another reason."""
    check, failure = case.check, case.failure
    exchanges = check.exchanges if check is not None else []
    refused = failure is not None and "in-place" in failure.message
    return refused or any(exchange.reply.get("modified") for exchange in exchanges if exchange.settled)


def _is_much_smaller(one: CaseOutcome, other: CaseOutcome) -> bool:
    """Whether a failing call is of far fewer numbers than another one: that takes less time to be looked at."""
    sizes = [case.failure.size if case.failure is not None else 0 for case in (one, other)]
    return 0 < MUCH_SMALLER * sizes[0] < sizes[1]


def _is_within(one: Located, other: Located, wide: bool) -> bool:
    """Whether a place may stand for another one: beside a ``wide`` one in a small call much is equal by chance."""
    return not wide or set(one.lines) <= {*other.lines, *other.left_out}


def _are_much_the_same(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two wide places have most of their lines in common: they tell of one mistake what can be told."""
    both, either = set(one) & set(other), set(one) | set(other)
    return min(len(one), len(other)) > FEW and MOST_OF_THEM * len(either) <= len(both)


def _without_wider(causes: list[Cause]) -> list[Cause]:
    """Let a place of few cases that has all lines of one with more be part of that: it need not be another mistake."""
    kept: list[Cause] = []
    for cause in causes:
        at = next((at for at, other in enumerate(kept) if _is_wider(cause, other)), None)
        if at is None:
            kept.append(cause)
        else:
            kept[at] = replace(kept[at], cases=ordered((*kept[at].cases, *cause.cases)))
    return kept


def _is_wider(one: Cause, other: Cause) -> bool:
    """Whether a place has all lines of another one, and neither is told by more than its lines."""
    if one.located is None or other.located is None or one.is_raised or other.is_raised:
        return False
    groups = {cause.evidence.failure.group for cause in (one, other) if cause.evidence.failure is not None}
    told = one.located.title or other.located.title
    return len(groups) == 1 and not told and set(one.located.lines) >= set(other.located.lines)


def _telling(cases: list[CaseOutcome], place: Located) -> CaseOutcome:
    """Return the case to be shown for a place: of those that fail alike the first small one, not one of many calls.

    A place is looked for in a large call, in which little is equal by chance; in a small one people see more.
    """
    assert place.case.failure is not None
    kind = place.case.failure.kind
    if place.is_measured or kind != "value":
        return place.case
    for case in cases:
        failure = case.failure
        is_plain = case.family == case.case.family and not asks_for_much(case)
        if is_plain and failure is not None and failure.kind == kind and 0 < failure.size <= FEW_NUMBERS:
            return case
    return place.case


def _group(case: CaseOutcome) -> tuple[str, str, bool]:
    """Return what is put down to one place: wrong numbers of a function in a family, errors of a line, or of a kind.

    And whether what was handed in is written into.
    """
    assert case.failure is not None
    kind = case.failure.group
    of = {"value": f"{case.case.family} {entry_of(case)}", "error": str(_line(case))}
    return kind, of.get(kind, ""), kind in of and _writes(case)
