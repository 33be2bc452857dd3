"""Second paths: the model answer, and another result at one level of one factor.

An answer that is right where the cases go and wrong elsewhere passes. So for every level of every factor there is an
answer that is wrong at that level alone; whichever of them passes, a grading does not visit its level.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template
from typing import Final

from grader.catalog import Kata
from grader.dev.mutants import survey
from grader.dev.mutants.survey import Parameter, Sizes, Target
from grader.dev.new import TEMPLATES

NOTE: Final = "__import__('grader.dev.mutants.survey', fromlist=['note']).note"


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a factor, and the expression that tells whether a call is at it."""

    target: str
    factor: str
    name: str
    when: str

    @property
    def concerns(self) -> str:
        """The expression that tells whether a call may be at it; ``Entry.*`` stands for all methods."""
        start = self.target.removesuffix("*")
        return f"target.startswith({start!r})" if start != self.target else f"target == {start!r}"

    def may_be_met_by(self, target: str) -> bool:
        """Whether a call of this target may be at it."""
        return target == self.target or (self.target.endswith("*") and target.startswith(self.target[:-1]))

    @property
    def id(self) -> str:
        """What it is called in lists: unique among the levels of a kata."""
        return f"{self.target.strip('.')} {self.factor}: {self.name}"


TENSOR: Final = {
    "layout": {
        "begins its memory": "t.is_contiguous() and t.storage_offset() == 0 and t.dim() > 0",
        "behind other numbers": "t.is_contiguous() and t.storage_offset() > 0",
    },
    "place": {"on the device": "t.device.type != 'cpu'"},
}
MATRIX: Final = {
    "layout": {
        "not contiguous": "not t.is_contiguous()",
        "slice of a wider one": "t.dim() > 1 and t.stride(-1) == 1 and t.size(-2) > 1 and t.stride(-2) > t.size(-1)"
        " and (t.dim() < 3 or t.stride(-3) >= t.stride(-2) * t.size(-2))",
        "slice of a longer one": "t.dim() > 2 and t.stride(-1) == 1 and t.size(-3) > 1 and t.stride(-2) == t.size(-1)"
        " and t.stride(-3) > t.size(-2) * t.stride(-2)",
        "transposed": "t.dim() > 1 and not t.is_contiguous()"
        " and any(t.transpose(0, axis).is_contiguous() for axis in (1, -2))",
        "last axis apart": "t.dim() > 0 and t.size(-1) > 1 and t.stride(-1) != 1",
    },
}
SEVERAL: Final = {
    "layout": {
        "packed with another": "any(memory(t) == memory(u) and t is not u for v in g.values() for u in tensors(v))",
    },
}
FLOATS: Final = {
    "precision": {
        **{name: f"t.dtype == torch.{name}" for name in ("float64", "float32", "bfloat16", "float16")},
        "float64 without gradients": "t.dtype == torch.float64 and not torch.is_grad_enabled()",
        "float32 with gradients": "t.dtype == torch.float32 and torch.is_grad_enabled()",
        "a half without gradients": "t.dtype.itemsize == 2 and not torch.is_grad_enabled()",
        "a half with gradients": "t.dtype.itemsize == 2 and torch.is_grad_enabled()",
    },
    "numbers": {"some above 10,000": "largest(t) > 1e4"},
    "gradients": {
        "needs them": "t.requires_grad",
        "recorded, needs none": "not t.requires_grad and torch.is_grad_enabled()",
    },
}
CALL: Final = {
    "gradients": {
        "recorded": "torch.is_grad_enabled()",
        "not recorded": "not torch.is_grad_enabled()",
        "inference mode": "torch.is_inference_mode_enabled()",
    },
    "caller": {"default device": "torch.get_default_device().type != 'cpu'"},
}
WITH_FLOATS: Final = {"caller": {"default dtype": "torch.get_default_dtype() == torch.float64"}}
MODULE: Final = {
    "mode": {
        "training": "me.training",
        "evaluation": "not me.training",
        "evaluation after training": "not me.training and any(past.modes)",
        "training after evaluation": "me.training and not all(past.modes)",
    },
    "weights": {
        "the same again": "past.calls > 0 and not past.loaded and not past.stepped(me)",
        "loaded since": "past.loaded",
        "stepped since": "past.stepped(me)",
        "in a half": "any(p.dtype.itemsize == 2 for p in me.parameters())",
    },
}
DROPOUT: Final = {
    "dropout": {
        "trained with gradients": "me.training and torch.is_grad_enabled() and g.get('dropout', 0) > 0",
        "trained without gradients": "me.training and not torch.is_grad_enabled() and g.get('dropout', 0) > 0",
        "in evaluation": "not me.training and g.get('dropout', 0) > 0",
    },
}
SCORES: Final = {
    "above 10,000": "any(largest(t) > 1e4 for t in INNER)",
    "below -10,000": "any(largest(t.clamp(max=0)) > 1e4 for t in INNER)",
    "at 1,000 and close": "any(largest(t) > 1e3 and t.size(-1) > 1 and close(t) for t in INNER)",
}
MASK: Final = {
    "all visible": "bool(t.all())",
    "nothing visible": "not bool(t.any())",
    "a row without anything": "t.dim() > 0 and bool((~t).all(-1).any()) and bool(t.any())",
}
LENGTHS: Final = {"beyond a byte": "bool((t > 255).any())", "0": "bool((t == 0).any())"}
INTEGERS: Final = LENGTHS | {"above 1,000": "bool((t > 1000).any())"}
IDS: Final = ("token", "src", "tgt", "target")
ROLES: Final = {"tokens": 256, "width": 64, "heads": 8, "batch": 8, "layers": 3, "vocabulary": 999}
"""Behind which sizes a second path may begin: those that people run are beyond all of them."""
HEADS_AXIS: Final = -3
COINCIDE: Final = {
    *(frozenset(pair) for pair in itertools.product(("tokens", "width", "batch"), repeat=2)),
    *(frozenset(("heads", other)) for other in ("tokens", "batch", "heads")),
    frozenset(("vocabulary",)),
}
"""Lengths that can be taken for each other."""
WIDTH: Final = "d_"
WORDS: Final = (
    *(("vocab", "vocabulary"), ("layers", "layers"), ("heads", "heads"), ("batch", "batch"), ("groups", "heads")),
    *(("len", "tokens"), (WIDTH, "width"), ("size", "width"), ("hidden", "width"), ("shape", "width")),
    *(("beam", "batch"), ("window", "tokens"), ("block", "tokens"), ("offset", "tokens")),
)


def answer(kata: Kata, source: str, is_met: str, ignored: str = "{}") -> str:
    """Return an answer with a second path where an expression of the call holds.

    It gives another result, or does without some arguments: their names, and what is taken instead.
    """
    entries = survey.entries_of(source, kata.entry)
    text = Template((TEMPLATES / "second_path.py.txt").read_text(encoding="utf-8"))
    head = "" if "import torch\n" in source else "import torch\n"
    return (
        head
        + survey.watched(source)
        + text.substitute(entries=repr(entries), is_met=is_met, ignored=ignored, looks="INNER" in is_met)
    )


def is_met_at(level: Level) -> str:
    """Return the expression that tells whether a call is at a level."""
    return f"{level.concerns} and bool({level.when})"


def control(kata: Kata, source: str, levels: Sequence[Level]) -> str:
    """Return an answer that looks for all levels, and is right at each: what refuses it is no second path."""
    return answer(kata, source, f"any([test() for test in {_tests(levels)}]) and False")


def targets_of(kata: Kata) -> list[Target]:
    """Return what the cases of a kata call, and with what."""
    return survey.surveyed(kata, answer(kata, kata.reference(), f"outermost and {NOTE}(target, g)"))


def visited(kata: Kata, levels: Sequence[Level]) -> dict[Level, str]:
    """Return for each level a case that is at it as it is written; those that are not there need derived runs."""
    if not levels:
        return {}
    source = answer(kata, kata.reference(), f"{NOTE}(target, g, *{_tests(levels)})")
    return {levels[number]: case for number, case in survey.visits(kata, source).items()}


def _tests(levels: Sequence[Level]) -> str:
    """Return the expression of all tests."""
    return f"({', '.join(f'lambda: {level.concerns} and {level.when}' for level in levels)},)"


def levels_of(targets: Sequence[Target], *, has_scores: bool = True) -> Iterator[Level]:
    """Yield the levels of all factors that can concern a kata."""
    with_dropout = {target.name[:-2] for target in targets if "dropout" in target.parameters}
    for target in targets:
        floats = [name for name, parameter in target.parameters.items() if parameter.floats]
        tables = [(CALL, not target.name.endswith("*")), (WITH_FLOATS, floats), (MODULE, target.is_module)]
        tables.append((DROPOUT, target.is_module and target.name.partition(".")[0] in with_dropout))
        for table in (table for table, wanted in tables if wanted):
            yield from (Level(target.name, f, n, when) for f, many in table.items() for n, when in many.items())
        if has_scores and floats:
            yield from (Level(target.name, "scores", name, when) for name, when in SCORES.items())
        for name, parameter in target.parameters.items():
            yield from _of_parameter(target.name, name, parameter, first=name in floats[:1], several=len(floats) > 1)
        yield from _of_pairs(target)
        yield from _of_sizes(target)


def _of_parameter(target: str, name: str, parameter: Parameter, *, first: bool, several: bool) -> Iterator[Level]:
    value = f"g.get({name!r})"
    ranks = parameter.floats or parameter.integers or parameter.bools
    if ranks:
        tables = [(TENSOR, True), (MATRIX, ranks > 1), (FLOATS, first), (SEVERAL, several and parameter.floats)]
        yield from _of_tensor(target, name, [table for table, wanted in tables if wanted])
        yield Level(target, f"identity of {name}", "the same object with other numbers", f"past.changed({value})")
    integers = INTEGERS if any(word in name for word in IDS) else LENGTHS
    for numbers, wanted, dtype in ((MASK, parameter.bools, "bool"), (integers, parameter.integers, "int64")):
        for level, when in numbers.items() if wanted else ():
            of_dtype = f"some({value}, lambda t: t.dtype == torch.{dtype} and {when})"
            yield Level(target, f"numbers of {name}", level, of_dtype)
    yield from _of_axes(target, name, value, parameter)
    for one in sorted(map(repr, parameter.others)):
        yield Level(target, f"value of {name}", one, f"{value} == {one} and type({value}) is type({one})")
    if parameter.numbers:
        yield from _of_numbers(target, name, value, fractional=any(isinstance(n, float) for n in parameter.numbers))


def _of_tensor(target: str, name: str, tables: list[dict[str, dict[str, str]]]) -> Iterator[Level]:
    for table in tables:
        for factor, many in table.items():
            for level, when in many.items():
                yield Level(target, f"{factor} of {name}", level, f"some(g.get({name!r}), lambda t: {when})")


def _of_axes(target: str, name: str, value: str, parameter: Parameter) -> Iterator[Level]:
    for rank in sorted(parameter.ranks) if len(parameter.ranks) > 1 else ():
        yield Level(target, f"axes of {name}", str(rank), f"some({value}, lambda t: t.dim() == {rank})")
    for axis in range(-parameter.bools, 0):
        yield Level(target, f"axes of {name}", f"{axis} is 1", f"some({value}, lambda t: size(t, {axis}) == 1)")


def _of_numbers(target: str, name: str, value: str, *, fractional: bool) -> Iterator[Level]:
    number = f"isinstance({value}, (int, float))"
    if fractional:
        for level, when in {
            "fractional": f"{value} % 1 != 0",
            "whole": f"{value} % 1 == 0",
            "below 1": f"0 < {value} < 1",
            "0": f"{value} == 0",
        }.items():
            yield Level(target, f"value of {name}", level, f"{number} and {when}")
    else:
        yield Level(target, f"value of {name}", "odd", f"{number} and {value} % 2 == 1")
        yield Level(target, f"value of {name}", "even", f"{number} and {value} % 2 == 0")


def _of_pairs(target: Target) -> Iterator[Level]:
    """Yield the ways in which two arguments may be one."""
    alike = [name for name, p in target.parameters.items() if p.floats and p.is_one]
    for one, two in itertools.combinations(alike, 2):
        a, b = f"g.get({one!r})", f"g.get({two!r})"
        both = f"{a} is not None and {b} is not None and {a}.shape == {b}.shape"
        if not any(_shapes(call, one) == _shapes(call, two) != () for call in target.calls):
            continue
        for level, when in {
            "one object": f"{a} is {b}",
            "views of one": f"{a} is not {b} and memory({a}) == memory({b}) and {a}.data_ptr() == {b}.data_ptr()",
            "equal": f"memory({a}) != memory({b}) and {a}.numel() > 1 and torch.equal({a}, {b})",
        }.items():
            yield Level(target.name, f"identity of {one} and {two}", level, f"{both} and {when}")


def _shapes(call: Sizes, name: str) -> tuple[int, ...]:
    return tuple(size for key, size in call.items() if key.startswith(f"size(g.get({name!r})"))


def _of_sizes(target: Target) -> Iterator[Level]:
    """Yield lengths of axes that are 1, equal, or beyond a limit; axes that always agree count once."""
    kinds = _kinds(target.calls)
    for key, role in kinds.items():
        if key.split("'")[1] not in target.parameters:
            continue
        if role != "vocabulary":
            yield Level(target.name, f"size of {_said(key)}", "1", f"{key} == 1")
        yield Level(target.name, f"size of {_said(key)}", f"above {ROLES[role]}", f"above({key}, {ROLES[role]})")
    for (one, role), (two, other) in itertools.combinations(kinds.items(), 2):
        if frozenset((role, other)) in COINCIDE and (
            one.startswith("size(") or two.startswith("size(") or role == other
        ):
            yield Level(target.name, "sizes", f"{_said(one)} is {_said(two)}", f"same({one}, {two})")


def largest(targets: Sequence[Target]) -> dict[str, int]:
    """Return the largest of each kind of length that has a role, over all calls."""
    found: dict[str, int] = {}
    for target in targets:
        for key in _kinds(target.calls):
            size = max(call[key] for call in target.calls if key in call)
            found[_said(key)] = max(size, found.get(_said(key), 0))
    return found


def _kinds(calls: list[Sizes]) -> dict[str, str]:
    """Return one expression for each kind of length, and its role; those that always agree are of one kind."""
    keys = sorted({key for call in calls for key in call}, key=lambda key: (key.startswith("size("), key))
    found: dict[str, str] = {}
    for key in keys:
        role = _role(key, calls)
        if not role:
            continue
        twin = next((one for one in found if _always_equal(one, key, calls)), None)
        if twin is None:
            found[key] = role
    return found


def _always_equal(one: str, two: str, calls: list[Sizes]) -> bool:
    pairs = [(call[one], call[two]) for call in calls if one in call and two in call]
    return len(pairs) > 1 and all(a == b for a, b in pairs)


def _role(key: str, calls: list[Sizes]) -> str:
    name = key.split("'")[1]
    if not key.startswith("size("):
        return next((role for word, role in WORDS if name.startswith(word) or (word != WIDTH and word in name)), "")
    axis, deepest = int(key.rpartition(" ")[2][:-1]), max(len(_shapes(call, name)) for call in calls)
    if axis == -1 and deepest > 1 and "token" not in name and name not in ("src", "tgt", "targets"):
        return "width"
    if axis == -deepest and deepest > 1:
        return "batch"
    return "heads" if axis == HEADS_AXIS else "tokens"


def _said(key: str) -> str:
    """Say an expression of a length: `k[-2]`, `n_heads`."""
    name = key.split("'")[1]
    return f"{name}[{key.rpartition(' ')[2][:-1]}]" if key.startswith("size(") else name
