"""Grading mutants: each must be rejected, but those of which a list says why they cannot be, or need not."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

from grader import catalog
from grader.catalog import Kata
from grader.client.session import Request, Session
from grader.dev import ONE_AT_A_TIME
from grader.dev.answers import known_answers
from grader.dev.mutants import general, ignored, second_paths
from grader.dev.mutants.second_paths import Level
from grader.dev.mutants.survey import Target, watched
from grader.errors import BadKataFile

Kind = Literal["second-path", "ignored", "general"]
SECOND_PATHS: Final[tuple[Kind, ...]] = ("second-path", "ignored")
SEED: Final = 2017
FIRST_LOOK: Final = {"place": "device/", "caller": "device/", "precision": "dtype/", "identity": "dtype/"}
"""Where a second path shows first, by the beginning of its factor; in derived runs of `grad` where nothing says so."""
WORDS: Final = (
    *("kata", "second paths rejected", "those that ignore a mask", "listed with a reason"),
    "largest sizes in the cases",
)
SENTENCES: Final = {
    "en": """\
- **Second paths rejected: {rejected} of {must}.** For each level of each factor of {katas} katas (gradients on or off,
  memory transposed, two sizes that agree, 600 tokens, weights loaded since, and so on) an answer is made that is wrong
  there alone, and, for katas that hide something, one that ignores just there what is hidden: {ignoring} of {ignored}.
  [docs/proof.md](docs/proof.md) has the table.""",
    "zh": """\
- **第二条路径：{must} 个中拒绝了 {rejected} 个。** 对 {katas} 道题目的每个因素的每个水平（有无梯度、内存转置、
  两个长度相等、600 个 token、其间重新加载权重等），都造一个只在那里出错的答案；有掩码的题目，
  再造一个只在那里忽略掩码的答案：{ignored} 个中拒绝了 {ignoring} 个。
  表格见 [docs/proof.md](docs/proof.md)。""",  # noqa: RUF001 - Chinese has its own commas
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """An answer that must be rejected, and cases that would do it: a few of them take less time than all."""

    kata: str
    kind: Kind
    name: str
    source: str
    looks: tuple[str, ...] = ()
    is_met: str = ""
    """Where it is wrong, as an expression; empty where that cannot be said of a call."""
    instead: str = "{}"
    """What it ignores there, and what it takes in its place."""


@dataclass(frozen=True, slots=True)
class Known:
    """Mutants of which it is known why they pass, by patterns of their names."""

    katas: tuple[str, ...]
    names: tuple[str, ...]
    reason: str

    def fits(self, kata: str, name: str) -> bool:
        """Whether a mutant is one of them."""
        return any(fnmatchcase(kata, one) for one in self.katas) and any(fnmatchcase(name, one) for one in self.names)


@dataclass
class Tally:
    """What became of the mutants of a kata."""

    kata: str
    rejected: dict[str, int] = field(default_factory=dict)
    passed: dict[str, list[str]] = field(default_factory=dict)
    excused: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    largest: dict[str, int] = field(default_factory=dict)
    """The largest of each kind of length in the cases."""

    def of(self, kind: Kind) -> tuple[int, int, int]:
        """Return how many of a kind were rejected, must be, and need not be."""
        rejected, passed = self.rejected.get(kind, 0), len(self.passed.get(kind, []))
        return rejected, rejected + passed, len(self.excused.get(kind, []))

    def lines(self) -> Iterator[str]:
        """Yield a line for each that passed and should not have, and for what else is wrong."""
        yield from (f"{self.kata}: {problem}" for problem in self.problems)
        yield from (f"{self.kata}: passes: {name}" for names in self.passed.values() for name in names)


def file() -> Path:
    """Return the list of levels and mutants with something to say about them; it is there in a clone only."""
    return catalog.content_root() / "tests" / "mutants.toml"


def listed() -> tuple[list[Known], list[tuple[tuple[str, ...], Level]]]:
    """Read the list: what may pass, and why; and levels of a kata's own. Raises BadKataFile."""
    try:
        entries = tomllib.loads(file().read_text(encoding="utf-8"))
        known = [Known(tuple(one["katas"]), tuple(one["names"]), one["reason"]) for one in entries.get("passes", [])]
        own = [
            (tuple(one["katas"]), Level(one["target"], one["factor"], one["name"], one["when"]))
            for one in entries.get("level", [])
        ]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise BadKataFile(file(), "", str(error)) from error
    return known, own


def levels_of(kata: Kata, targets: Sequence[Target] | None = None) -> list[Level]:
    """Return the levels of a kata: those of its kind, and its own."""
    _known, own = listed()
    targets = second_paths.targets_of(kata) if targets is None else targets
    found = second_paths.levels_of(targets, has_scores="_look(" in watched(kata.reference()))
    return [*found, *(level for katas, level in own if kata.id in katas)]


def second_path_mutants(kata: Kata, targets: Sequence[Target]) -> tuple[list[Mutant], str]:
    """Return a mutant for each level, and an answer that looks for all of them and is right."""
    levels = levels_of(kata, targets)
    visited = second_paths.visited(kata, levels)
    mutants = []
    for level in levels:
        is_met = second_paths.is_met_at(level)
        source = second_paths.answer(kata, kata.reference(), is_met)
        case = visited.get(level, "").partition("(")[0]
        mutants.append(Mutant(kata.id, "second-path", level.id, source, _looks(kata, level, case), is_met))
    return mutants, second_paths.control(kata, kata.reference(), levels)


def ignoring_mutants(kata: Kata, targets: Sequence[Target]) -> Iterator[Mutant]:
    """Yield a mutant for each level at which something can be ignored that hides what may not be seen."""
    found = {one: ignored.with_something_hidden(one) for one in ignored.ignored(targets, levels_of(kata, targets))}
    visited = second_paths.visited(kata, list(found.values()))
    for one, level in found.items():
        source = second_paths.answer(kata, kata.reference(), one.is_met, one.given)
        case = visited.get(level, "").partition("(")[0]
        yield Mutant(kata.id, "ignored", one.id, source, _looks(kata, one.level, case), one.is_met, one.given)


def _looks(kata: Kata, level: Level, case: str) -> tuple[str, ...]:
    prefix = next((prefix for factor, prefix in FIRST_LOOK.items() if level.factor.startswith(factor)), "grad/")
    families = [f"{family}/" for family in ("grad", "dtype", "device") if family in kata.families]
    return tuple(dict.fromkeys([*filter(None, [case]), *(f for f in families if f == prefix), *families]))


def general_mutants(kata: Kata) -> Iterator[Mutant]:
    """Yield all changes of the reference and of correct answers in other styles."""
    for known in known_answers(kata):
        if not known.accepted:
            continue
        text = known.source.encode()
        for edit in general.edits(known.source):
            name = f"{known.name} {edit.described(text)}"
            yield Mutant(kata.id, "general", name, edit.applied_to(text))


def sampled(mutants: Iterable[Mutant], most: int | None, seed: int) -> list[Mutant]:
    """Return so many of them, the same for a seed."""
    every = list(mutants)
    return every if most is None or most >= len(every) else random.Random(seed).sample(every, most)  # noqa: S311


def grade(
    kata: Kata,
    session: Session,
    *,
    kinds: Sequence[Kind] = SECOND_PATHS,
    sample: int | None = None,
    seed: int = SEED,
    only: str = "",
    on_step: Callable[[str], None] = lambda _step: None,
) -> Tally:
    """Grade the mutants of a kata; those that are listed are graded too, and count apart where they pass."""
    tally = Tally(kata.id)
    known, _own = listed()
    mutants: list[Mutant] = []
    if set(SECOND_PATHS) & set(kinds):
        with ONE_AT_A_TIME:
            targets = second_paths.targets_of(kata)
            tally.largest = second_paths.largest(targets)
            paths, control = second_path_mutants(kata, targets)
            paths += ignoring_mutants(kata, targets) if "ignored" in kinds else []
        report = session.grade(Request(kata.id, control, kata.filename, seed=seed), many=True)
        if report["verdict"] != "passed":
            tally.problems.append(f"looking for levels is refused: {_first(report)}")
        wanted = (one for one in paths if one.kind in kinds and only in one.name)
        mutants += sampled(wanted, sample, seed)
    if "general" in kinds:
        with ONE_AT_A_TIME:
            mutants += sampled((one for one in general_mutants(kata) if only in one.name), sample, seed)
    fails = partial(_fails, kata, session, seed)
    left = []
    for mutant in mutants:
        on_step(mutant.name)
        if any(fails(mutant.source, case) for case in mutant.looks):
            tally.rejected[mutant.kind] = tally.rejected.get(mutant.kind, 0) + 1
        else:
            left.append(mutant)
    excused = {mutant.name for mutant in left if any(one.fits(kata.id, mutant.name) for one in known)}
    alike = partial(_alike, excused)
    for _key, group in groupby(sorted(left, key=alike), alike):
        for mutant, passes in graded_together(kata, list(group), fails, on_step):
            if passes:
                where = tally.excused if mutant.name in excused else tally.passed
                where.setdefault(mutant.kind, []).append(mutant.name)
            else:
                tally.rejected[mutant.kind] = tally.rejected.get(mutant.kind, 0) + 1
    return tally


def graded_together(
    kata: Kata, group: Sequence[Mutant], fails: Callable[[str], bool], on_step: Callable[[str], None]
) -> Iterator[tuple[Mutant, bool]]:
    """Yield some mutants, and whether each passes a whole grading, which is long where a kata trains.

    An answer that is wrong wherever one of them is, and passes, tells it of all of them at once: none of their levels
    is visited. Where it fails, both halves are graded so.
    """
    on_step(f"{group[0].name}, and {len(group) - 1} more")
    is_met = " or ".join(f"({mutant.is_met})" for mutant in group)
    every = second_paths.answer(kata, kata.reference(), is_met, group[0].instead)
    passes = not fails(every if len(group) > 1 else group[0].source)
    if passes or len(group) == 1:
        yield from ((mutant, passes) for mutant in group)
    else:
        half = len(group) // 2
        yield from graded_together(kata, group[:half], fails, on_step)
        yield from graded_together(kata, group[half:], fails, on_step)


def _alike(excused: Collection[str], mutant: Mutant) -> tuple[bool, str, str, str]:
    """Return what mutants have in common of which one answer can be made: not those that are alone."""
    return mutant.name in excused, mutant.kind, mutant.instead, "" if mutant.is_met else mutant.name


def _fails(kata: Kata, session: Session, seed: int, source: str, case: str = "") -> bool:
    """Whether an answer fails; what no time was left for tells nothing of it."""
    request = Request(kata.id, source, kata.filename, seed=seed, case=case, explained=False)
    report = session.grade(request, many=True)
    failing = {case["outcome"] for case in report["cases"]} - {"passed", "skipped"}
    return report["verdict"] == "failed" and failing != {"timeout"}


def _first(report: dict[str, Any]) -> str:
    failing = [case for case in report["cases"] if case["outcome"] not in ("passed", "skipped")]
    return report["message"] or f"{failing[0]['id']}: {failing[0]['message']}"


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of a kata."""

    kata: str
    rejected: int
    must: int
    ignoring: int
    """How many that ignore a mask were rejected."""
    ignored: int
    """How many of these there are."""
    excused: int
    """How many second paths are listed with a reason."""
    also_excused: int
    """How many that ignore a mask."""
    sizes: str

    def __str__(self) -> str:
        ignoring = f"{self.ignoring}/{self.ignored}" if self.ignored else ""
        excused = f"{self.excused} + {self.also_excused}" if self.also_excused else self.excused or ""
        return f"| `{self.kata}` | {self.rejected}/{self.must} | {ignoring} | {excused} | {self.sizes} |"

    def beside(self, there: Row, kinds: Collection[str]) -> Row:
        """Return the row with what stands there already of kinds that are none of these."""
        row = self
        if "second-path" not in kinds:
            row = replace(row, rejected=there.rejected, must=there.must, excused=there.excused)
        if "ignored" not in kinds:
            row = replace(row, ignoring=there.ignoring, ignored=there.ignored, also_excused=there.also_excused)
        return row


ROW: Final = re.compile(
    r"^\| `(.+)` \| (\d+)/(\d+) \| (?:(\d+)/(\d+))? \| (\d*)(?: \+ (\d+))? \| (.*) \|$", re.MULTILINE
)


def rows_of(tallies: Iterable[Tally]) -> list[Row]:
    """Return the rows of katas whose second paths were graded."""
    return [_row_of(tally) for tally in tallies]


def _row_of(tally: Tally) -> Row:
    rejected, must, excused = tally.of("second-path")
    ignoring, ignored, others = tally.of("ignored")
    sizes = " · ".join(f"{name} {n}" for name, n in tally.largest.items())
    return Row(tally.kata, rejected, must, ignoring, ignored, excused, others, sizes)


def together(new: Iterable[Row], text: str, kinds: Collection[str] = SECOND_PATHS) -> list[Row]:
    """Return the rows of a table that is there already, with these in the place of those of the same katas.

    Where mutants of some ``kinds`` alone were graded, what the table says of others stays.
    """
    found = ((kata, [int(number or 0) for number in numbers], sizes) for kata, *numbers, sizes in ROW.findall(text))
    there = {kata: _row(kata, numbers, sizes) for kata, numbers, sizes in found}
    rows = there | {row.kata: row.beside(there.get(row.kata, row), kinds) for row in new}
    return [rows[kata] for kata in catalog.katas() if kata in rows]


def _row(kata: str, numbers: list[int], sizes: str) -> Row:
    rejected, must, ignoring, ignored, excused, also_excused = numbers
    return Row(kata, rejected, must, ignoring, ignored, excused, also_excused, sizes)


def table(rows: Iterable[Row], words: Sequence[str] = WORDS) -> str:
    """Return what became of second paths as a Markdown table, with the largest sizes in the cases."""
    rows = list(rows)
    lines = [f"| {' | '.join(words)} |", f"|{'---|' * len(words)}", *map(str, rows)]
    return "\n".join([*lines, str(_sum_of(rows)).replace("`all`", "**all**")])


def _sum_of(rows: Sequence[Row]) -> Row:
    names = ("rejected", "must", "ignoring", "ignored", "excused", "also_excused")
    return _row("all", [sum(getattr(row, name) for row in rows) for name in names], "")


def sentence(rows: Iterable[Row], lang: str = "en") -> str:
    """Say for a README how many second paths were rejected."""
    rows = list(rows)
    every = _sum_of(rows)
    numbers = {name: f"{getattr(every, name):,}" for name in ("rejected", "must", "ignoring", "ignored")}
    return SENTENCES[lang].format(**numbers, katas=len(rows))
