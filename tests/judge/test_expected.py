"""Replies that are accepted at a glance are those that the long comparison accepts, infinities among them."""

from __future__ import annotations

import pytest
import torch

from grader.judge.compare import compare
from grader.judge.expected import Expectation
from grader.sandbox.values import Snapshot
from grader.sandbox.wire import save

INF = float("inf")
WANT = torch.tensor([[1.0, -INF, 2.0], [-INF, -3.0, INF]], dtype=torch.float64)


def accepted(got: torch.Tensor) -> bool:
    """Whether a reply with this result is accepted at a glance."""
    snapshot = Snapshot()
    reply = {"kind": "value", "value": snapshot.tree(got), "seen": {}, "modified": []}
    expected = Expectation(WANT, {}, torch.float32, "", grad=False)
    return expected.met(reply, save(snapshot.tensors))


def changed(place: tuple[int, int], value: float) -> torch.Tensor:
    """Return the result in float32 with another value in one place."""
    tensor = WANT.float()
    tensor[place] = value
    return tensor


def test_the_result_itself() -> None:
    """Infinities stand where they must, the rest is near."""
    assert accepted(WANT.float())
    assert accepted(changed((0, 0), 1.0 + 1e-6))
    assert compare(changed((0, 0), 1.0 + 1e-6), WANT, torch.float32) is None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(((0, 1), 0.5), ((0, 1), -1e30), ((0, 1), INF), ((0, 1), float("nan"))),
        *(((0, 0), -INF), ((0, 0), 1.1), ((0, 0), float("nan")), ((1, 2), -INF)),
    ],
)
def test_another_result(place: tuple[int, int], value: float) -> None:
    """A number in the place of an infinity, an infinity in the place of a number, the other infinity, NaN."""
    assert not accepted(changed(place, value))
    assert compare(changed(place, value), WANT, torch.float32) is not None
