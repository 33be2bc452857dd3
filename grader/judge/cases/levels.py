"""The levels at which a derived run goes through its case: how else a caller may go about the very same calls.

Nearly all failures come from one factor or a pair of them (Kuhn, Wallace and Gallo, 2004), so the levels of the runs of
each variant are drawn from a covering array: every pair of levels occurs in one of its rows. No run is added for it.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from allpairspy import AllPairs

from grader.judge.cases.variant import LevelSet, Variant
from grader.language import _, marked
from grader.sandbox import levels as ways
from grader.sandbox.arguments import INPUTS_ALONE, ONE_ALONE, WEIGHTS_ALONE
from grader.transport import memory

PLAIN: Final = ""
RECORDED: Final = "recorded"
UNRECORDED: Final = "unrecorded"
"""How a case is written: a level only in what is told of a case that passes where gradients are recorded."""
Row = dict[str, str]

FACTORS: Final[dict[str, tuple[str, ...]]] = {
    "layout": (PLAIN, memory.OWN, memory.WIDER, memory.LONGER, memory.TRANSPOSED, memory.REVERSED, memory.PACKED),
    "before": (PLAIN, ways.INPUTS, ways.STEPPED, ways.LOADED),
    "gradients": (PLAIN, RECORDED, ways.INFERENCE),
    "identity": (PLAIN, ways.VIEWS, ways.CLONES),
    "mode": (PLAIN, ways.ROUND_TRIP, "train"),
    "caller": (PLAIN, ways.DEVICE, ways.DTYPE),
    "asks": (PLAIN, INPUTS_ALONE, WEIGHTS_ALONE, ONE_ALONE),
}
"""Each factor with its levels, the plain one first: how the case itself is run."""
APART: Final = "float16"
"""Where objects that are the same are told apart. All other variants meet them as the case has them."""
WHERE: Final = {("caller", ways.DTYPE): ("dtype", "device"), ("gradients", ways.INFERENCE): ("dtype",)}
"""Levels that make a difference in the variants of some families only."""
LEVELLED: Final = ("dtype", "grad", "device")
"""Families whose derived runs have levels; what they watch for does not depend on them."""
RECORDS: Final = ("grad",)
"""Families that need gradients."""
GRADIENTS: Final = ("grad", "")
VALUES: Final = ("dtype", "float64")
TITLES: Final = {
    ("layout", memory.OWN): marked("with inputs that begin their memory"),
    ("layout", memory.WIDER): marked("with inputs that are slices of wider tensors"),
    ("layout", memory.LONGER): marked("with inputs that are slices of longer tensors"),
    ("layout", memory.TRANSPOSED): marked("with inputs that are transposed in memory"),
    ("layout", memory.REVERSED): marked("with inputs all of whose axes are reversed in memory"),
    ("layout", memory.PACKED): marked("with inputs that are views of one tensor"),
    ("before", ways.INPUTS): marked("after a call in which the same tensors held other numbers"),
    ("before", ways.STEPPED): marked("after a call with other weights, changed in place since"),
    ("before", ways.LOADED): marked("after a call with other weights, loaded anew since"),
    ("gradients", RECORDED): marked("with gradients recorded"),
    ("gradients", UNRECORDED): marked("where no gradients are recorded"),
    ("gradients", ways.INFERENCE): marked("in inference mode"),
    ("identity", ways.VIEWS): marked("with two views of one tensor in place of one object"),
    ("identity", ways.CLONES): marked("with two equal tensors in place of one object"),
    ("mode", ways.ROUND_TRIP): marked("after the other mode (training or evaluation)"),
    ("mode", "train"): marked("in training mode, where no dropout is asked for"),
    ("caller", ways.DEVICE): marked("with the device as the caller's default device"),
    ("caller", ways.DTYPE): marked("with float64 as the caller's default dtype"),
    ("asks", INPUTS_ALONE): marked("where all weights are frozen"),
    ("asks", WEIGHTS_ALONE): marked("where no input asks for a gradient"),
    ("asks", ONE_ALONE): marked("where a single input asks for a gradient"),
}


def drawn(cases: Iterable[list[Variant]], seed: int, without: tuple[str, ...] = ()) -> Iterator[list[Variant]]:
    """Yield the variants of one case after the other, those derived at the levels that a seed draws.

    ``without``: levels that a kata leaves out.
    """
    draw = _Draw(seed, without)
    return map(draw.give, cases)


class _Draw:
    """Gives each derived run of a grading its levels."""

    def __init__(self, seed: int, without: tuple[str, ...]) -> None:
        self._without = without
        self._random = random.Random(f"levels of {seed}")  # noqa: S311 - drawn for breadth, not for secrecy
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._layouts: dict[tuple[str, str], Counter[str]] = {}
        self._a_device_is_default = False
        ways_apart = [way for way in FACTORS["identity"][1:] if way not in without]
        self._ways = itertools.cycle(self._random.sample(ways_apart, len(ways_apart)))

    def give(self, variants: list[Variant]) -> list[Variant]:
        """Return the variants of one case, those derived with levels: each factor's differ where they can.

        The first is the case itself, which stays plain, since people read it. A default device hides tensors that were
        made on the wrong one, so that it is not drawn: the first case that runs on the device has it, no other one.
        The ways in which objects are told apart take turns, so that two cases in a row meet them.
        """
        met: Counter[tuple[str, str]] = Counter()
        rows: dict[tuple[str, str], Row] = {}
        names = [(variant.family, variant.label) for variant in variants]
        for variant, name in list(zip(variants, names, strict=True))[1:]:
            if variant.family in LEVELLED and not (name == VALUES and GRADIENTS in names):
                rows[name] = self._next(variant, met)
                if variant.family == "device" and not self._a_device_is_default and ways.DEVICE not in self._without:
                    rows[name], self._a_device_is_default = rows[name] | {"caller": ways.DEVICE}, True
                if variant.of_everything:
                    rows[name] = rows[name] | {"asks": PLAIN}
                if variant.label == APART:
                    rows[name] = rows[name] | {"identity": next(self._ways, PLAIN)}
                met.update(rows[name].items())
        if VALUES in names:
            rows.setdefault(VALUES, rows.get(GRADIENTS, {}))  # it is read off the run that takes the gradients
        return [
            at_levels(variant, rows[name]) if name in rows else variant
            for variant, name in zip(variants, names, strict=True)
        ]

    def _next(self, variant: Variant, met: Counter[tuple[str, str]]) -> Row:
        """Take a row that was not taken yet: of a whole array first, then of its rows without a call before.

        Such a call takes as long as the one that counts, and each pair of levels with it has been met by then. One of
        the layout that had the fewest runs of this variant, so that seven cases in a row meet all of them; of these the
        one whose levels the case has met least.
        """
        name = (variant.family, variant.label)
        rows, layouts = self._rows.setdefault(name, []), self._layouts.setdefault(name, Counter())
        if not rows:
            every = covering(_factors(variant, self._without), self._random)
            rows.extend(every if not layouts else [row for row in every if row["before"] == PLAIN])
            self._random.shuffle(rows)
        best = min(rows, key=lambda row: (layouts[row["layout"]], sum(met[level] for level in row.items())))
        rows.remove(best)
        layouts[best["layout"]] += 1
        return best


ARRAY: Final = list(AllPairs([range(len(levels)) for levels in FACTORS.values()]))
"""Rows of numbers of levels, one for each factor: every pair of numbers of two factors is in one of them.

Made once, before there is a grading. It stays a covering array whichever factors are left out, wherever numbers stand
for other levels, and where a factor has fewer of them: the numbers begin again.
"""


def covering(factors: tuple[tuple[str, tuple[str, ...]], ...], order: random.Random) -> list[Row]:
    """Return rows of levels in which every pair of levels of two factors occurs; numbers mean levels at random."""
    columns = {name: number for number, name in enumerate(FACTORS)}
    mixed = [(name, columns[name], order.sample(levels, len(levels))) for name, levels in factors]
    return [{name: levels[row[column] % len(levels)] for name, column, levels in mixed} for row in ARRAY]


def _factors(variant: Variant, without: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (name, tuple(level for level in levels if level not in without and _fits(variant, name, level)))
        for name, levels in FACTORS.items()
        if name != ("gradients" if variant.family in RECORDS else "asks")
    )


def _fits(variant: Variant, factor: str, level: str) -> bool:
    if factor == "identity":
        return (level != PLAIN) == (variant.label == APART)
    if (factor, level) == ("caller", ways.DEVICE):
        return False
    return variant.family in WHERE.get((factor, level), (variant.family,))


def at_levels(variant: Variant, row: Row) -> Variant:
    """Return a variant at these levels; factors that are not in the row are plain."""
    gradients = RECORDED if variant.family in RECORDS else row.get("gradients")
    recording = {RECORDED: "", ways.INFERENCE: ways.INFERENCE}.get(gradients or PLAIN, "no_grad")
    chosen = tuple((name, row[name]) for name in FACTORS if row.get(name))
    layout = row.get("layout") or memory.BEHIND
    return dataclasses.replace(variant, recording=recording, layout=layout, levels=chosen)


def described(levels: LevelSet) -> str:
    """Say levels in a reader's words."""
    return _(", ").join(_(TITLES[level]) for level in levels)
