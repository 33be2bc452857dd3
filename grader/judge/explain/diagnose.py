"""Naming the mistake: which entries of the kata's bank behave, on the same calls, exactly as the answer did.

An entry is named when it does what the answer did in every operation of the failing cases: values, gradients, dtypes,
changed inputs and errors alike, and of the passing ones as well; where some cases are left, a second one is looked for
that does it there beside the first, then a third. Where no single entry does, families whose cases are their own are
named by themselves, and of what is left two are tried: two that share the failing cases between them and can stand in
one file, then two and three in one file, then up to three with failing cases of their own, and at last what goes wrong
in the open: an error hides whatever else is wrong. What is named has reproduced the numbers of the cases beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, islice
from typing import Final

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.contract import Grading
from grader.judge.explain.bank import Bank
from grader.judge.explain.diagnosis import Diagnosis, both_of, diagnosis_of, first_of_guesses, is_seen, merged
from grader.judge.explain.few import (
    FAILING_PER_FAMILY,
    HIDING,
    MOST_CONTRADICTING,
    MOST_FOR_PAIRS,
    MOST_UNEXPLAINED,
    OF_SIZES,
    PASSING_PER_FAMILY,
    Room,
    asks_for_much,
    by_entry,
    first_of_each_family,
    in_order,
    is_in_the_open,
    order,
    roots_of,
)
from grader.judge.explain.mistakes import Mistake
from grader.judge.explain.pairs import ByItself, Pairs, alone, conceivable, pairs_with, pairs_without
from grader.judge.explain.reproduce import (
    MistakeRunner,
    agrees_with,
    contradicted,
    is_comparable,
    is_of_its_family,
    passes,
    reproduces,
)
from grader.judge.runs.outcome import CaseOutcome
from grader.sandbox.observe import SIMULATED

MOST_PAIRS: Final = 600
"""So many files with two mistakes are tried: a count, so that a slow machine names as many as a fast one."""
MOST_UNSEEN_PAIRS: Final = 100
"""So many of them where neither of the two is to be seen by itself anywhere."""
MOST_BETTER: Final = 16
"""So many that do a part of it are tried behind a pair that leaves failing cases, for one that leaves fewer."""
MOST_TRIPLES: Final = 60
MOST_EXTENDED: Final = 3
"""So many pairs that do in part what the answer did are tried with each other mistake as a third."""
MOST_OPERATIONS: Final = 30_000
"""So many operations of tensors may two mistakes in one file take, all tries together, and a third of it three."""
MOST_LIKELY: Final = 6
"""Of so many mistakes that do in part what the answer did, three are tried together."""
LEAST_IN_PART: Final = 2
"""A mistake that shows by itself in one case only may be a coincidence."""
MOST_TOGETHER: Final = 3
APART: Final = ("contract", "cost", "device", "grad", "dtype")
"""Families whose own cases say nothing about the numbers of others: what fails in them is named by itself."""

Hit = tuple[Mistake, list[CaseOutcome], MistakeRunner]
"""A mistake, the cases in which it does what the answer did, and what runs it."""


def diagnose(grading: Grading, outcomes: list[CaseOutcome], bank: Bank, source: str) -> list[Diagnosis]:
    """Return the mistakes that reproduce what the answer did, the most telling first; empty where none does.

    ``source``: the answer's own text.
    """
    failing = [case for case in outcomes if case.failure is not None and is_comparable(case)]
    passing = [case for case in outcomes if case.outcome == "passed" and not case.is_read_off and is_comparable(case)]
    if (
        not failing
        or grading.answer.load_failure is not None
        or all(c.failure and c.failure.kind == "stub" for c in failing)
    ):
        return []
    if not any(case.variant.device == SIMULATED for case in failing):
        passing = [case for case in passing if case.variant.device != SIMULATED]
    by_id = {case.id: case for case in failing}
    found = merged(_Search(grading, bank, failing, passing).found())
    return [one for one in found if is_seen(one, [by_id[case] for case in one.cases], source)]


class _Search:
    """The search in one grading."""

    def __init__(self, grading: Grading, bank: Bank, failing: list[CaseOutcome], passing: list[CaseOutcome]) -> None:
        self._grading, self._bank, self._failing, self._passing = grading, bank, failing, passing
        self._few = first_of_each_family(sorted(failing, key=order), FAILING_PER_FAMILY)
        self._room, self._more_room = Room(MOST_OPERATIONS), Room(MOST_OPERATIONS // 3)  # for two, and for three
        families = {case.family for case in failing}  # each mistake fails in its own
        self._singles = [(mistake, run) for mistake, run in bank.singles() if mistake.family in families]
        passing_ones = {case.family for case in passing} - families
        self._strangers = [(mistake, run) for mistake, run in bank.singles() if mistake.family in passing_ones]
        self._plain = [case for case in passing if case.family in DERIVED_FROM]
        self._telling = first_of_each_family(self._plain, PASSING_PER_FAMILY)
        self._own = [case for case in passing if case.family == case.case.family and case.family not in DERIVED_FROM]

    def found(self) -> list[Diagnosis]:
        """Return what fits."""
        alone = self._closest(fitting := self._fit(self._singles))
        if len(alone) == 1:
            return next(self._and_others(run, (one,)) for one, run in fitting if one is alone[0].mistake)
        found = alone or self._by_entry() or self._apart() or self._two()
        found = found or self._closest(self._of_others()) or self._behind_errors()
        return self._with_all_cases(found) if any(one.together for one in found) else found

    def _by_entry(self) -> list[Diagnosis]:
        """Name what each function of a file does wrong by itself."""
        parts = by_entry(self._failing)
        each = (_Search(self._grading, self._bank, its, self._passing).found() for its in parts if len(parts) > 1)
        return [replace(one, together=True) for part in each for one in first_of_guesses(part)]

    def _behind_errors(self) -> list[Diagnosis]:
        """Name what goes wrong where layers are those of the task and nothing is raised, which hides all else."""
        for hiding in HIDING:
            left = [case for case in self._failing if is_in_the_open(case, hiding)]
            if 0 < len(left) < len(self._failing):
                found = _Search(self._grading, self._bank, left, self._passing).found()
                free = [case for case in self._failing if case.failure and case.failure.kind == "no-error"]
                checks = (diagnosis_of(one, free) for one, run in self._singles if free and self._all(run, free))
                return [replace(one, together=True) for one in (*found, *islice(checks, 1))]
        return []

    def _with_all_cases(self, found: list[Diagnosis]) -> list[Diagnosis]:
        """Give each of several mistakes those failing cases, too, that nobody has yet and in which it does it alone."""
        told = {case for diagnosis in found for case in diagnosis.cases}
        rest = [case for case in self._failing if case.id not in told]
        runs = {mistake.id: run for mistake, run in self._bank.singles()}
        its = [[c.id for c in rest if reproduces(self._grading, runs[one.mistake.id], c)] for one in found]
        return [replace(one, cases=(*one.cases, *more)) for one, more in zip(found, its, strict=True)]

    def _and_others(self, run: MistakeRunner, mistakes: tuple[Mistake, ...]) -> list[Diagnosis]:
        """Look at all cases as they are written: what mistakes that fit do not do there, another does beside them."""
        does = {c: reproduces(self._grading, run, c) for c in self._failing if c.family == c.case.family}
        rest = [case for case, same in does.items() if not same][:MOST_FOR_PAIRS]
        for other, _run in self._singles if rest and len(mistakes) < MOST_TOGETHER else ():
            several = self._bank.together(*mistakes, other) if other not in mistakes else None
            if several is not None and self._all(several, rest) and self._does_it(several, self._few):
                return self._and_others(several, (*mistakes, other))
        return self._told(mistakes, does)

    def _told(self, mistakes: tuple[Mistake, ...], does: dict[CaseOutcome, bool]) -> list[Diagnosis]:
        """Return mistakes that are in one file, each with the failing cases in which the others are not enough.

        ``does``: whether they do what the answer did, for each case as it is written.
        """
        needed = self._needed(mistakes, does)
        if needed != mistakes:
            run = self._bank.together(*needed)
            assert run is not None  # all of them stand in one file
            return self._told(needed, {case: reproduces(self._grading, run, case) for case in does})
        strange = {case.case.stream for case, same in does.items() if not same}
        cases = [case for case in self._failing if case.case.stream not in strange]
        if len(mistakes) == 1:
            return [diagnosis_of(mistakes[0], cases)]
        found = []
        by_stream = {case.case.stream: case for case in (*reversed(cases), *does)}  # some fail only in what is derived
        for mistake in mistakes:
            others = tuple(one for one in mistakes if one is not mistake)
            rest = self._bank.together(*others)
            enough = {at for at, c in by_stream.items() if rest is not None and reproduces(self._grading, rest, c)}
            its = [case for case in cases if case.case.stream not in enough]
            found.append(replace(diagnosis_of(mistake, its or cases), together=True, beside=others))
        told = {case for diagnosis in found for case in diagnosis.cases}
        left = tuple(case.id for case in cases if case.id not in told)
        return [replace(found[0], cases=found[0].cases + left), *found[1:]]

    def _needed(self, mistakes: tuple[Mistake, ...], cases: Iterable[CaseOutcome]) -> tuple[Mistake, ...]:
        """Leave out what the others do without: beside a mistake that fails everywhere, one that shows nowhere fits."""
        both = self._bank.together(*mistakes) if len(mistakes) > 1 else None
        every = (*cases, *self._few, *self._plain, *self._own)
        together = [case for case in every if both is not None and reproduces(self._grading, both, case)]
        for mistake in reversed(mistakes) if together else ():
            others = tuple(one for one in mistakes if one is not mistake)
            alone = self._bank.together(*others)
            if alone is not None and self._all(alone, together):
                return self._needed(others, cases)
        return mistakes

    def _fit(self, mistakes: list[tuple[Mistake, MistakeRunner]]) -> list[tuple[Mistake, MistakeRunner]]:
        """Return those that do what the answer did in a few cases."""
        return [(m, run) for m, run in mistakes if self._all(run, self._few) and self._all(run, self._telling)]

    def _of_others(self) -> list[tuple[Mistake, MistakeRunner]]:
        """Return mistakes of families that pass, which fail here all the same: else they are none here.

        Where a family was not asked for, nothing could contradict them.
        """
        fails = [one for one in self._strangers if all(passes(self._grading, one[1], c) is False for c in self._few)]
        return self._fit(fails)

    def _apart(self) -> list[Diagnosis]:
        """Name what fails in families whose cases are their own, and search in what is left."""
        found: list[Diagnosis] = []
        left = self._failing
        for family in APART:
            own = [case for case in left if case.family == family == case.case.family and is_of_its_family(case)]
            fitting = [(m, run) for m, run in self._singles if own and m.family == family and self._all(run, own)]
            fitting = [(m, run) for m, run in fitting if self._nothing_against(run, self._telling)]
            if fitting:
                far = {one.id: run.distance for one, run in fitting}  # before other cases of a cost are asked
                mistake, _run = fitting[0]
                if len(fitting) > 1:
                    mistake, _run = min(fitting, key=lambda fit: (self._against(*fit), far[fit[0].id]))
                found.append(Diagnosis(mistake, tuple(case.id for case in own), together=True))
                left = [case for case in left if case not in own]
        if not found or not left:
            return found
        others = first_of_guesses(_Search(self._grading, self._bank, left, self._passing).found())
        return [*(replace(one, together=True) for one in others), *found]

    def _against(self, mistake: Mistake, run: MistakeRunner) -> int:
        """Count the passing cases of its family that contradict a mistake."""
        own = [case for case in self._passing if case.family == mistake.family]
        return contradicted(self._grading, run, own[:MOST_CONTRADICTING])

    def _closest(self, fitting: list[tuple[Mistake, MistakeRunner]]) -> list[Diagnosis]:
        """Look at more cases: what one that passed contradicts is out, and those come first that explain most."""
        fitting = [(mistake, run) for mistake, run in fitting if self._all(run, self._plain)]
        found: list[tuple[int, int, float, Diagnosis]] = []
        for mistake, run in fitting:
            same = self._failing
            contradicted = 0
            if len(fitting) > 1:
                same = [case for case in self._failing if reproduces(self._grading, run, case)]
                contradicted = sum(not reproduces(self._grading, run, case) for case in self._passing)
            found.append((contradicted, -len(same), run.distance, diagnosis_of(mistake, same)))
        best = min((fit[:2] for fit in found), default=None)
        found = sorted((fit for fit in found if fit[:2] == best), key=lambda fit: fit[2])
        return [diagnosis for _contradicted, _same, _distance, diagnosis in found]

    def _two(self) -> list[Diagnosis]:
        """Find two mistakes that do it together, or one that does it in part of the cases."""
        roots, (written, derived) = roots_of(self._failing), in_order(self._failing)
        hits = self._hits(roots)
        if hits and len(hits[0][1]) == len(roots):  # what it leaves shows what else is wrong
            left = [case for case in written if not reproduces(self._grading, hits[0][2], case)]
            half = MOST_FOR_PAIRS // 2
            more = sorted(left, key=order)[:half]
            roots = [*roots[: max(half, MOST_FOR_PAIRS - len(left))], *more]
            hits = self._among(roots, [*hits, *self._hits(more)])
        pairs = list(islice(self._sharing(hits, roots), 2))
        if len(pairs) == 1:
            return self._and_hidden(pairs[0], roots)
        explains = {
            m.id: {c.id for c in (*written, *derived) if reproduces(self._grading, run, c)} for m, _c, run in hits
        }
        hits.sort(key=lambda hit: (-len(hit[1]), -len(explains[hit[0].id]), self._against(hit[0], hit[2])))
        if pairs:
            return self._and_hidden(next(self._sharing(hits, roots)), roots)
        beyond = [case for case in roots if case.is_out_of_bounds]
        if beyond:  # that comes first, and says what to do, whatever else is wrong
            called = (
                diagnosis_of(m, cases) for m, cases, _run in hits if m.family == "contract" and beyond[0] in cases
            )
            return list(islice(called, 1))
        likely = [mistake for mistake, _cases, _run in hits]
        by_itself = alone(self._grading, self._singles, roots, self._plain)
        every, families = [mistake for mistake, _run in self._singles], {case.family for case in roots}
        found = self._both(pairs_with(likely, every), by_itself, roots)
        found = found or self._three(islice(combinations(likely[:MOST_LIKELY], 3), MOST_TRIPLES), roots)
        if found:
            return found
        found = self._in_part(likely, written, explains)
        if found:
            return found
        for mistake, cases, run in hits[:1]:
            its = [case for case in written if case.id in explains[mistake.id]]
            if len(cases) >= LEAST_IN_PART and 4 * len(cases) >= 3 * len(roots) and 2 * len(its) >= len(written):
                return [diagnosis_of(mistake, [case for case in self._failing if reproduces(self._grading, run, case)])]
        return self._both(pairs_without(likely, every, families), by_itself, roots, MOST_UNSEEN_PAIRS)

    def _hits(self, roots: list[CaseOutcome]) -> list[Hit]:
        """Return the mistakes that do what the answer did in some of these cases, those that do it in most first."""
        hits = [(m, [case for case in roots if reproduces(self._grading, run, case)], run) for m, run in self._singles]
        hits = [(m, cases, run) for m, cases, run in hits if cases and self._nothing_against(run, self._plain)]
        return sorted(hits, key=lambda hit: -len(hit[1]))

    def _among(self, roots: list[CaseOutcome], hits: list[Hit]) -> list[Hit]:
        """Return what was found in several sets of cases for those that are roots, in the same order."""
        shown: dict[str, list[CaseOutcome]] = {}
        for mistake, cases, _run in hits:
            shown.setdefault(mistake.id, []).extend(case for case in cases if case in roots)
        found = [(mistake, shown[mistake.id], run) for mistake, run in self._singles if shown.get(mistake.id)]
        return sorted(found, key=lambda hit: -len(hit[1]))

    def _sharing(self, hits: list[Hit], roots: list[CaseOutcome]) -> Iterator[list[Diagnosis]]:
        """Yield two that share the failing cases between them and do it in one file: else not both can be true."""
        for (first, here, _one), (second, there, _other) in combinations(hits, 2):
            if all(case in here or case in there for case in roots):
                both = self._bank.together(first, second)
                if both is not None and self._all(both, roots):
                    yield both_of((first, here), (second, [case for case in there if case not in here]))

    def _in_part(
        self, likely: list[Mistake], written: list[CaseOutcome], explains: dict[str, set[str]]
    ) -> list[Diagnosis]:
        """Name those that do what the answer did in failing cases of their own, first the one that explains most."""
        found: list[Diagnosis] = []
        left = written
        while len(found) < MOST_TOGETHER:
            own = {mistake.id: [case for case in left if case.id in explains[mistake.id]] for mistake in likely}
            best = max(likely, key=lambda one: (len(own[one.id]), len(explains[one.id])), default=None)
            if best is None or len(own[best.id]) < LEAST_IN_PART:
                break
            found.append(diagnosis_of(best, own[best.id]))
            left = [case for case in left if case not in own[best.id]]
        groups = {case.failure.group for case in written if case.failure is not None and case not in left}
        if not groups & OF_SIZES:  # an input that is written into is that whatever else is wrong
            written = [case for case in written if case.failure is not None and case.failure.group in groups]
        written = [case for case in written if not asks_for_much(case)]
        if sum(case in left for case in written) > MOST_UNEXPLAINED * len(written):
            return []
        if len(found) <= 1:
            return found
        several = [replace(one, together=True) for one in found]
        return self._and_hidden(several, [case for case in written if case not in left])

    def _and_hidden(self, found: list[Diagnosis], cases: list[CaseOutcome]) -> list[Diagnosis]:
        """Look for one more beside several that do these cases: none of its own cases may be without them."""
        mistakes = tuple(one.mistake for one in found)
        run = self._bank.together(*mistakes)
        if run is None or not self._all(run, cases):
            return found
        if not self._does_it(run, cases):  # what passes shows that there is another one, too
            every = [one for one, _run in self._singles if one not in mistakes] if len(mistakes) < MOST_TOGETHER else []
            three = ((several, one) for one in every if (several := self._bank.together(*mistakes, one)) is not None)
            both = next(((several, one) for several, one in three if self._does_it(several, cases)), None)
            return self._and_others(both[0], (*mistakes, both[1])) if both is not None else found
        more = self._and_others(run, mistakes)
        return more if len(more) > len(found) else found

    def _nothing_against(self, run: MistakeRunner, cases: list[CaseOutcome]) -> bool:
        """Whether no passing case contradicts a mistake that may be one of several."""
        return all(agrees_with(self._grading, run, case) for case in cases)

    def _both(
        self, pairs: Pairs, by_itself: ByItself, roots: list[CaseOutcome], most: int = MOST_PAIRS
    ) -> list[Diagnosis]:
        """Return the first pair that does it in one file; else one that does a part of it, and a third for the rest."""
        roots = sorted(roots, key=self._room.operations)
        in_part: list[tuple[int, tuple[Mistake, Mistake]]] = []
        fitting: list[tuple[int, MistakeRunner, tuple[Mistake, Mistake]]] = []
        for pair in islice(conceivable(pairs, by_itself), most):
            if not self._room.has_for(roots[0]):
                break
            both = self._bank.together(*pair)
            if both is None or not reproduces(self._grading, both, roots[0]):
                continue
            if self._does_it(both, roots):
                fitting.append((self._unexplained(both), both, pair))
            if fitting and (not fitting[-1][0] or len(in_part) > MOST_BETTER):
                break
            in_part.append((sum(reproduces(self._grading, both, case) for case in roots), pair))
        if fitting:
            _left, both, pair = min(fitting, key=lambda found: found[0])
            return self._and_others(both, pair)
        closest = sorted(in_part, key=lambda found: -found[0])[:MOST_EXTENDED]
        every = [mistake for mistake, _run in self._singles]
        return self._three(
            ((*pair, third) for count, pair in closest if count >= LEAST_IN_PART for third in every), roots
        )

    def _three(self, threes: Iterator[tuple[Mistake, ...]], roots: list[CaseOutcome]) -> list[Diagnosis]:
        """Return the first three that do it in one file."""
        for three in threes:
            if len(set(names := [mistake.id for mistake in three])) < len(names):
                continue
            if not self._more_room.has_for(roots[0]):
                break
            run = self._bank.together(*three)
            if run is not None and self._does_it(run, roots):
                return self._and_others(run, three)
        return []

    def _does_it(self, run: MistakeRunner, roots: list[CaseOutcome]) -> bool:
        """Whether several mistakes in one file do what the answer did, where it failed and where it passed."""
        return all(self._all(run, cases) for cases in (roots, self._plain, self._own))

    def _unexplained(self, run: MistakeRunner) -> int:
        """Count the failing cases, as they are written, in which several mistakes do not what the answer did."""
        return sum(
            not reproduces(self._grading, run, case) for case in self._failing if case.family == case.case.family
        )

    def _all(self, implementation: MistakeRunner, cases: list[CaseOutcome]) -> bool:
        return all(reproduces(self._grading, implementation, case) for case in cases)
