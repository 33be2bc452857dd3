"""What covers what: runs that together show every feature come first, and no other run shows anything they do not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
import torch

from grader.judge.runs.coverage import CASE, DETAILS, FORM, MAGNITUDE, chosen, features_of
from grader.transport.wire import DeviceName
from tests.judge.runs import exchange_of

ALL = (FORM, CASE, MAGNITUDE)
X = torch.linspace(-1, 1, 24).reshape(2, 3, 4)
EVERYTHING = torch.ones(2, 3, dtype=torch.bool)
SOME = torch.tensor([[True, False, True], [True, True, True]])
NO_ROW = torch.tensor([[False, False, False], [True, True, True]])


def seen(*args: Any, detail: int = MAGNITUDE, **kwargs: Any) -> set[Any]:
    """Return the features of one call that show at a detail."""
    return {feature for at, feature in features_of([exchange_of(*args, **kwargs)]) if at <= detail}


SEEN_AT = {
    "a mask or none": ((X, None), (X, EVERYTHING), CASE),
    "how many axes": ((X,), (X[0],), FORM),
    "which dtype": ((X,), (X.half(),), FORM),
    "another layout": ((X,), (X.transpose(1, 2).contiguous().transpose(1, 2),), FORM),
    "expanded": ((X,), (X[:, :1].expand(2, 3, 4),), FORM),
    "one row": ((X,), (X[:, :1],), CASE),
    "as long as the other": ((X, X), (X, X[:, :2]), CASE),
    "a mask that hides nothing": ((X, EVERYTHING), (X, SOME), CASE),
    "a mask that hides a row": ((X, SOME), (X, NO_ROW), CASE),
    "zero or one": ((X, 0), (X, 1), CASE),
    "which number": ((X, 0.1), (X, 0.5), CASE),
    "indices with a zero": ((torch.tensor([0, 2]),), (torch.tensor([1, 2]),), CASE),
    "a tuple's length": (((X,),), ((X, X),), FORM),
    "huge numbers": ((X,), (X * 1e6,), MAGNITUDE),
    "tiny numbers": ((X,), (X * 1e-9,), MAGNITUDE),
    "an infinity": ((X,), (X / 0,), MAGNITUDE),
    "an odd width": ((X,), (X[..., :3],), MAGNITUDE),
}


@pytest.mark.parametrize("name", SEEN_AT)
def test_what_tells_two_calls_apart(name: str) -> None:
    """Each difference that code could branch on shows at its detail, and not to who looks less closely."""
    one, other, detail = SEEN_AT[name]
    assert seen(*one, detail=detail) != seen(*other, detail=detail)
    for less in (nearer for nearer in ALL if nearer < detail):
        forms = seen(*one, detail=less), seen(*other, detail=less)
        assert forms[0] == forms[1] or name == "a mask or none"


def test_numbers_alone_do_not_tell_two_calls_apart() -> None:
    """Other numbers of the same size, on the same form, are the same path through the code."""
    assert seen(X, SOME, dim=-1) == seen(X.flip(0) * 0.9, SOME.clone(), dim=-1)


def test_how_a_module_is_called_shows() -> None:
    """Training or not, how often, and with weights of which size."""
    once, twice = [exchange_of(X)], [exchange_of(X), exchange_of(X)]
    assert set(features_of(once)) ^ set(features_of(twice)) == {
        (FORM, ("calls", "call f", number)) for number in (1, 2)
    }
    assert set(features_of(once)) != set(features_of([exchange_of(X, train=True)]))
    usual, large = ({"w": torch.ones(2) * factor} for factor in (1.0, 1e4))
    assert set(features_of([exchange_of(X, state=usual)])) != set(features_of([exchange_of(X, state=large)]))
    assert set(features_of([exchange_of(X, device=DeviceName("sim:0"))])) > set(features_of(once))


RUNS = {
    1: [exchange_of(X)],
    2: [exchange_of(X, SOME)],
    3: [exchange_of(X, EVERYTHING)],
    4: [exchange_of(X * 1e6)],
    5: [exchange_of(X.flip(1))],
    6: [exchange_of(torch.ones(4, 40, 8))],
    7: [exchange_of(X[:, :1], NO_ROW[:, :1])],
    8: [exchange_of(X), exchange_of(X, SOME)],
}


@pytest.mark.parametrize("detail", ALL)
@pytest.mark.parametrize("size", [1, 2, 3, len(RUNS)])
def test_what_is_chosen_shows_all(size: int, detail: int) -> None:
    """Together the chosen runs have every feature of all of them, whichever runs there are."""
    for numbers in combinations(RUNS, size):
        runs = {number: RUNS[number] for number in numbers}
        found = chosen(runs, detail)
        features = {n: {f for at, f in features_of(exchanges) if at <= detail} for n, exchanges in runs.items()}
        assert found <= runs.keys()
        assert set().union(*(features[n] for n in found)) == set().union(*features.values())


def test_the_largest_and_the_longest_are_chosen() -> None:
    """Rounding shows in the largest tensor and indices along the longest axis, so these runs are among the first."""
    wide, long = torch.ones(4, 4, 64), torch.ones(1, 300, 1)
    runs = {1: [exchange_of(X)], 2: [exchange_of(wide)], 3: [exchange_of(long)], 4: [exchange_of(X.clone())]}
    assert {2, 3} <= chosen(runs, FORM)


def test_a_repetition_is_not_chosen() -> None:
    """Of runs that show the same, one comes first; where there are none, none does."""
    assert len(chosen({number: [exchange_of(X.clone())] for number in range(5)})) == 1
    assert chosen({}) == set()


def test_who_looks_less_closely_asks_for_less() -> None:
    """A coarser detail never needs more runs than a finer one on these."""
    counts = [len(chosen(RUNS, detail)) for detail in ALL]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] < len(RUNS)
    assert set(DETAILS.values()) <= set(ALL)
