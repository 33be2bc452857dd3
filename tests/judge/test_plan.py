"""A plan is made for every kata: a judge that cannot make one grades without, and takes longer."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.judge.desk import Desk
from grader.judge.grading import Grading
from grader.judge.plan import Plan, runs_of
from grader.sandbox.keeper_line import NoSandboxes

SEED = 5


@pytest.mark.parametrize("kata_id", catalog.katas())
def test_every_kata_is_prepared(kata_id: str) -> None:
    """All runs are prepared, and what the derived ones rely upon is made."""
    kata = catalog.find(kata_id)
    desk = Desk(kata, NoSandboxes(), None)
    plan = Plan(SEED)
    for _step in plan.steps(Grading(kata, "", "", SEED, NoSandboxes(), desk.model), desk.cases):
        pass
    runs = runs_of(desk.cases, kata.families)
    assert len(plan.runs) == len(runs)
    for run, ready in zip(runs, plan.runs, strict=True):
        assert ready.messages or run.outcome.case.trains
        assert not any(plan.runs[number - 1].relies_on for number in ready.relies_on)
