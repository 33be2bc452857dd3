"""The failing cases of a grading by their causes: mistakes by their names, then places, then what is merely seen.

A cause has one case as its evidence; the others that it accounts for are listed by their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any, Final

from grader.catalog import FAMILIES
from grader.judge.cases.case import DERIVED_FROM
from grader.judge.explain.diagnosis import Diagnosis
from grader.judge.explain.few import asks_for_much
from grader.judge.explain.levels import TOLD, by_factor
from grader.judge.explain.locate.as_named import locate_named
from grader.judge.explain.locate.find import chosen, locate
from grader.judge.explain.locate.in_words import locate_asking, locate_in_words, locate_number, locate_refusal
from grader.judge.explain.locate.kept import by_itself, kept_in
from grader.judge.explain.locate.quoted import quoted, with_likest
from grader.judge.explain.locate.several import locate_beside
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.ways import Ways
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.explain.mistakes import Mistake
from grader.judge.explain.picture import picture
from grader.judge.explain.report import line_of
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.text import clean

MOST_LOOKED_AT: Final = 5
"""So many failing cases are run once more with their steps recorded."""
MOST_ALONE: Final = 2
"""So many of them are run once more alone, in a process of their own, where an answer keeps something."""
MOST_FOR_ONE: Final = 3
"""So many of them for one place, where the first ones tell a wide one: each is right for its own case."""
MUCH_SMALLER: Final = 4
"""Beside a call that tells a wide place one of so many times fewer numbers is looked at."""
CHEAP: Final = 150
"""Where one has taken more steps than so many, others like it are not looked at for a narrower place."""
MOST_LINES_OF_A_NAME: Final = 6
"""More lines than so many tell nothing beside a name."""
FEW_OF_ALL: Final = 10
"""What has fewer than one in so many of the cases of another cause is told after it, even by its name."""
LONGEST_TITLE: Final = 120
FEW_NUMBERS: Final = 48
"""A call of so few numbers is taken in at a glance."""
LOCATED: Final = "located"
SEEN: Final = "seen"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why cases fail."""

    id: str
    """That of a known mistake, or what it depends on; "located" where only the place is known, "seen" where not even
    that is.
    """
    cases: tuple[CaseOutcome, ...]
    evidence: CaseOutcome
    mistake: Diagnosis | None = None
    located: Located | None = None

    def document(self, source: str, filename: str, lang: str) -> dict[str, Any]:
        """Return the entry of the report."""
        failure = self.evidence.failure
        lines = self.located.lines if self.located is not None else (failure.line,) if failure and failure.line else ()
        texts = {"title": "", "explain": "", "push": ""}
        if self.mistake is not None:
            mistake = self.mistake.mistake
            texts = {"title": mistake.title[lang], "explain": mistake.explain[lang], "push": mistake.nudge[lang]}
        elif self.id in TOLD:
            title, push = TOLD[self.id]
            texts |= {"title": _(title), "push": _(push)}
        else:
            texts |= {"title": self._title(), "push": self.located.push if self.located is not None else ""}
        edits = self.mistake.mistake.edits if self.mistake is not None else ()
        first = quoted(self.located, source, edits) if self.located is not None else next(iter(lines), 0)
        return {
            "id": self.id,
            **texts,
            "line": first,
            "lines": sorted(lines),
            "where": f"{filename}:{first}" if first else "",
            "code": line_of(source, first),
            "evidence": {
                "case": self.evidence.id,
                "steps": self.located.sentence if self.located is not None else "",
                "message": clean(failure.message, 1000) if failure else "",
                "call": clean(failure.call, 400) if failure else "",
                "picture": picture(self.evidence),
            },
            "cases": [case.id for case in self.cases],
        }

    @property
    def is_raised(self) -> bool:
        """Whether it ends in an error."""
        return self.evidence.failure is not None and self.evidence.failure.group == "error"

    @property
    def is_missing(self) -> bool:
        """Whether something that the task names is not there: nothing can be said of it but that."""
        return self.evidence.failure is not None and self.evidence.failure.kind == "missing"

    def _title(self) -> str:
        """Return what a cause without a name is called: by its place, by the error that is raised, else by its case."""
        failure, located = self.evidence.failure, self.located
        said = clean(failure.message, 1000) if failure is not None else ""
        if located is not None and located.title:
            return located.title
        if located is None and (self.is_missing or self.evidence.is_out_of_bounds):
            return said  # all there is to say, whichever case it happened in
        if failure is not None and self.is_raised and (located is not None or not failure.line):
            return shorten(said, LONGEST_TITLE, placeholder=" …")
        if located is None:
            return self.evidence.title
        return _("It goes wrong in {where}").format(where=listed(located.lines))


def causes(outcomes: list[CaseOutcome], named: list[Diagnosis], source: str) -> list[Cause]:
    """Return why cases fail, the most telling first: what is out of bounds, mistakes by their names, places.

    What few cases show comes after what most do.
    """
    failing = [case for case in outcomes if case.failure is not None]
    passing = [case for case in outcomes if case.outcome == "passed" and case.family in DERIVED_FROM]
    right = [case for case in outcomes if case.outcome == "passed" and not case.is_read_off]
    most_pass = len(right) > len(failing)  # else it says little that only calls that fail come somewhere
    search = _Search(failing, passing, source, right if most_pass else [])
    every_name = told_of(named)
    found = [cause for diagnosis in every_name if (cause := search.named(diagnosis, every_name)) is not None]
    found += search.by_levels()
    every = [*_joined([*found, *search.located()]), *search.seen()]
    most = max((len(cause.cases) for cause in every), default=0)
    return sorted(
        every,
        key=lambda cause: (
            not cause.evidence.is_out_of_bounds,
            not cause.is_missing,
            len(cause.cases) * FEW_OF_ALL < most,
            cause.mistake is None,
            cause.id not in TOLD,
        ),
    )


def _joined(found: list[Cause]) -> list[Cause]:
    """Let a place that a named mistake has already be part of that mistake."""
    causes: dict[tuple[int, ...], Cause] = {}
    others: list[Cause] = []
    for cause in found:
        lines = cause.located.lines if cause.located is not None else ()
        if cause.id == LOCATED and lines in causes and cause.is_raised == causes[lines].is_raised:
            causes[lines] = replace(causes[lines], cases=_ordered((*causes[lines].cases, *cause.cases)))
        elif lines and lines not in causes:
            causes[lines] = cause
        else:
            others.append(cause)
    return [*causes.values(), *others]


def _ordered(cases: Iterable[CaseOutcome]) -> tuple[CaseOutcome, ...]:
    return tuple(sorted(cases, key=lambda case: (FAMILIES.index(case.family), case.case.position, case.id)))


def told_of(named: list[Diagnosis]) -> list[Diagnosis]:
    """Return the mistakes to be told: those that stand for different cases or are in one file; of guesses the first."""
    several = len(named) > 1 and (named[0].together or named[0].cases != named[1].cases)
    return named if several else named[:1]


class _Search:
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
            place = locate_in_words(own, self._source, diagnosis.mistake) or place
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
        return Cause(diagnosis.mistake.id, _ordered({*taken, *its}), evidence, diagnosis, place)

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
        for factor, its in list(by_factor(self._failing, self._left)):
            kept = self._kept(its) if factor == "gradients" else None
            name = factor if kept is None else "before"
            place = kept or self._look(its)
            asking = locate_asking(its, self._source, factor)
            if (
                place is None
                or len(place.lines) > MOST_LINES_OF_A_NAME
                or (asking and factor == "gradients" and not kept)
            ):
                place = asking
            evidence = place.case if place is not None and place.case.needs else its[0]
            cause, other = Cause(name, self._take(its), evidence, located=place), found.get(name)
            found[name] = replace(other, cases=_ordered((*other.cases, *cause.cases))) if other else cause
        return list(found.values())

    def located(self) -> list[Cause]:
        """Take the cases that go wrong at places that are known, one family of failures after the other.

        What is written into an argument comes first: a wider place around that line goes wrong for it.
        """
        found: dict[tuple[int, ...], Cause] = {}
        known: dict[str, Located] = {}
        """Of each kind but errors, each of which has a line of its own."""
        written: list[tuple[int, ...]] = []
        """The lines that write into arguments."""
        for kind, family in sorted(dict.fromkeys(map(_group, self._left)), key=lambda group: group[0] != "modified"):
            its = [case for case in self._left if _group(case) == (kind, family)]
            place = self._look(its) or (known.get(kind) if self._looks <= 0 else None)
            if place is None:
                continue
            if kind != "error":
                known.setdefault(kind, place)
            taken = self._take(its)
            around = {its[0].failure.line} if kind == "error" and its[0].failure else set(place.lines)
            lines = next(filter(around.issuperset, written), place.lines)
            if kind == "modified":
                written.append(lines)
            other = found.get(lines)
            found[lines] = Cause(
                LOCATED,
                (*(other.cases if other else ()), *taken),
                other.evidence if other else _telling(its, place),
                located=other.located if other else place,
            )
        return sorted(found.values(), key=lambda cause: -len(cause.cases))

    def seen(self) -> list[Cause]:
        """Take what is left, by line and kind."""
        groups: dict[tuple[int, str], list[CaseOutcome]] = {}
        for case in self._left:
            assert case.failure is not None
            groups.setdefault((case.failure.line, case.failure.kind), []).append(case)
        self._left = []
        return [self._seen(line, tuple(cases)) for (line, _kind), cases in groups.items()]

    def _seen(self, line: int, cases: tuple[CaseOutcome, ...]) -> Cause:
        """Return a cause that has no place; of an answer that is right nearly everywhere, a number may be one."""
        place = locate_number(cases, self._source) if not line and self._most_pass else None
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
            if case is None or ((case, names) not in self._known and self._looks <= 0):
                break
            if (case, names) not in self._known:
                self._looks -= 1
                self._known[case, names] = (
                    locate_beside(case, self._source, beside) if beside else locate(case, self._source, self._passing)
                )
            other = self._known[case, names]
            if place is None or (
                other is not None and other.breadth < place.breadth and _is_within(other, place, wide)
            ):
                place = other
            if place is None or other is None or place.breadth <= (False, FEW):
                break
            if other.looked_through > CHEAP:
                if len(place.lines) <= MOST_LINES_OF_A_NAME:
                    break
                left, wide = [one for one in left if _is_much_smaller(one, case)], True
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
        return _ordered(taken)


def _is_much_smaller(one: CaseOutcome, other: CaseOutcome) -> bool:
    """Whether a failing call is of far fewer numbers than another one: that takes less time to be looked at."""
    sizes = [case.failure.size if case.failure is not None else 0 for case in (one, other)]
    return 0 < MUCH_SMALLER * sizes[0] < sizes[1]


def _is_within(one: Located, other: Located, wide: bool) -> bool:
    """Whether a place may stand for another one: beside a ``wide`` one in a small call much is equal by chance."""
    return not wide or set(one.lines) <= {*other.lines, *other.left_out}


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


def _group(case: CaseOutcome) -> tuple[str, str]:
    """Return what is put down to one place: wrong numbers of a family, errors of a line, failures of any other kind."""
    assert case.failure is not None
    kind = case.failure.group
    return kind, {"value": case.case.family, "error": str(case.failure.line)}.get(kind, "")
