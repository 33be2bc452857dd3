"""Second paths that ignore a mask at one level: for a function, a module, and behind a cache."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader import catalog
from grader.client.session import Session
from grader.dev.mutants import grading, ignored, second_paths
from grader.dev.mutants.ignored import Ignored
from grader.dev.mutants.second_paths import Level
from grader.dev.mutants.survey import Parameter, Target
from tests.gradings import SEED, on_its_worker

KATA = catalog.find("masked-softmax")
MASK = Parameter(bools=3, ranks={2, 3}, others={None})

FUNCTION = """
def masked_softmax(scores, mask=None, dim=-1):
    return scores if mask is None else scores.masked_fill(~mask, 0.0)
"""
MODULE = """
import torch
class DecoderBlock(torch.nn.Module):
    def __init__(self, d_model):
        super().__init__()
    def forward(self, x, memory, cache=None, memory_mask=None):
        seen = memory if memory_mask is None else memory * memory_mask
        return x + seen + (0 if cache is None else cache[0][..., :1])
"""


@pytest.fixture(scope="module", autouse=True)
def marks(pytestconfig: pytest.Config) -> None:
    """Know the marks of the cases."""
    for name in (*catalog.FAMILIES, "derive", "precise", "trains", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


def described(targets: list[Target], levels: list[Level]) -> dict[str, Ignored]:
    """Return what is ignored, by its name."""
    return {one.id: one for one in ignored.ignored(targets, levels)}


def levels_of(target: Target) -> list[Level]:
    """Return the levels at which calls can be."""
    return list(second_paths.levels_of([target], has_scores=False))


def made(name: str, one: Ignored, source: str) -> dict[str, Any]:
    """Return the names of an answer to a kata that ignores something at a level."""
    names: dict[str, Any] = {}
    answer = second_paths.answer(catalog.find(name), source, one.is_met, one.given)
    exec(compile(answer, "answer.py", "exec", dont_inherit=True), names)
    return names


def test_a_mask_of_a_function_is_ignored_at_its_level_alone() -> None:
    """The answer is right but for calls at the level, whether the mask comes by position or by its name."""
    target = Target("masked_softmax.", parameters={"scores": Parameter(2), "mask": MASK})
    one = described([target], levels_of(target))["masked_softmax mask ignored, layout of scores: transposed"]
    masked_softmax = made("masked-softmax", one, FUNCTION)["masked_softmax"]
    plain, transposed, mask = torch.ones(2, 3), torch.ones(3, 2).T, torch.tensor([True, False, True])
    hidden = torch.tensor([1.0, 0.0, 1.0]).expand(2, 3)
    assert torch.equal(masked_softmax(plain, mask), hidden)
    assert torch.equal(masked_softmax(transposed, mask), torch.ones(2, 3))
    assert torch.equal(masked_softmax(transposed, mask=mask), torch.ones(2, 3))


def test_a_mask_of_a_module_is_ignored_behind_a_cache() -> None:
    """A level of one argument is met beside the mask of another one, which is then left out."""
    cache = Parameter(floats=4, is_one=False, others={None})
    target = Target(
        "DecoderBlock.forward",
        is_module=True,
        parameters={"x": Parameter(3), "memory": Parameter(3), "cache": cache, "memory_mask": MASK},
    )
    found = described([target], levels_of(target))
    assert "DecoderBlock.forward memory_mask ignored, mode: training" in found
    assert not any(one.argument == "cache" for one in found.values())
    one = found["DecoderBlock.forward memory_mask ignored, layout of cache: slice of a wider one"]
    block = made("decoder-block", one, MODULE)["DecoderBlock"](4)
    x, memory, mask = torch.zeros(2, 3, 4), torch.ones(2, 3, 4), torch.tensor([0.0, 1.0, 0.0, 1.0]) > 0
    whole, both = torch.zeros(2, 3, 4), torch.zeros(2, 3, 8)
    for given, visible in ((None, False), ((whole, whole), False), (both.split(4, dim=-1), True)):
        assert torch.equal(
            block(x, memory, given, mask), torch.ones_like(x) if visible else mask.float().expand(2, 3, 4)
        )


@pytest.mark.parametrize(
    ("name", "parameter", "instead"),
    [
        ("mask", MASK, "lambda given: None"),
        ("valid_lens", Parameter(integers=1, others={None}), "lambda given: None"),
        ("causal", Parameter(others={True, False}), "lambda given: False"),
        ("window", Parameter(numbers={3, 5}), "lambda given: 1 << 30"),
        ("mask", Parameter(bools=2), ""),
        ("dropout", Parameter(numbers={0.5}, others={None}), ""),
    ],
)
def test_what_stands_for_an_argument_hides_nothing(name: str, parameter: Parameter, instead: str) -> None:
    """A mask that may be left out is; what is no mask, or must be given, stays."""
    target = Target("f.", parameters={name: parameter})
    found = list(ignored.ignored([target], [Level("f.", "gradients", "recorded", "True")]))
    assert [one.instead for one in found] == ([instead] if instead else [])


def test_nothing_is_ignored_where_nothing_is_hidden() -> None:
    """A mask that is None, or shows all, hides nothing at that level; that of another argument may."""
    names = [
        ("value of mask", "None"),
        ("numbers of mask", "all visible"),
        ("value of mask", "nothing"),
        ("value of x", "None"),
    ]
    levels = [Level("f.", factor, name, "True") for factor, name in names]
    found = ignored.ignored([Target("f.", parameters={"mask": MASK})], levels)
    assert [(one.level.factor, one.level.name) for one in found] == names[2:]


def test_a_kata_that_hides_nothing_has_none() -> None:
    """Where no argument hides anything there is nothing to grade, and nothing is run for it."""
    target = Target("AddNorm.forward", is_module=True, parameters={"x": Parameter(3), "y": Parameter(3)})
    assert list(grading.ignoring_mutants(catalog.find("add-norm"), [target])) == []


@on_its_worker(KATA.id)
@pytest.mark.grades
def test_who_ignores_a_mask_at_a_level_is_rejected(session: Session) -> None:
    """Each of some that were drawn fails, and counts as one of its kind."""
    tally = grading.grade(KATA, session, kinds=("ignored",), sample=4, seed=SEED)
    assert tally.problems == []
    assert tally.passed == {}
    assert tally.of("ignored")[:2] == (4, 4)
    assert tally.of("second-path") == (0, 0, 0)
