"""What a case of its own accord asks of the caller: only in the calls inside, beside the levels that were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.cases.variant import Variant
from grader.kit.defaults import default_of_bfloat16, slices_of_wider_ones
from grader.transport.memory import BEHIND, WIDER

DRAWN = Variant("dtype", layout=BEHIND, levels=(("before", "stepped"), ("caller", "dtype")))


@pytest.fixture
def check() -> Iterator[Any]:
    """A check in a run at two levels, which it is in again afterwards."""
    check = SimpleNamespace(variant=DRAWN)
    yield check
    assert check.variant is DRAWN


@pytest.mark.parametrize(
    ("ask", "levels", "layout"),
    [
        (default_of_bfloat16, {"before": "stepped", "caller": "bfloat16"}, BEHIND),
        (slices_of_wider_ones, {"before": "stepped", "caller": "dtype", "layout": WIDER}, WIDER),
    ],
)
def test_a_level_is_asked_for(
    check: Any, ask: Callable[[Any], AbstractContextManager[None]], levels: dict[str, str], layout: str
) -> None:
    """It goes before one of the same factor that was drawn, others stay; afterwards all is as before, errors or not."""
    with ask(check):
        assert dict(check.variant.levels) == levels
        assert check.variant.layout == layout
        assert check.variant.header({}, 1)["layout"] == layout
    with suppress(ValueError), ask(check):
        raise ValueError
