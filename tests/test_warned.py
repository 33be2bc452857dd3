"""A warning that an answer brings about is shown at its own line."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import on_its_worker

ANSWER = """
import warnings
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    warnings.warn(f"by hand: {x.dim()}")
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + eps) + bias


class LayerNorm(nn.Module):
    pass
"""


@on_its_worker("layer-norm")
@pytest.mark.parametrize(("said", "at"), [("by hand", "warnings.warn"), ("degrees of freedom", "x.std")])
def test_a_warning_stands_at_the_line_of_the_answer(session: Session, said: str, at: str) -> None:
    """Also one of PyTorch, which a probe of the grader has called."""
    line = next(number for number, text in enumerate(ANSWER.splitlines(), 1) if at in text)
    report = session.grade(Request("layer-norm", ANSWER, catalog.find("layer-norm").filename), many=True)
    every = [text for case in report["cases"] for text in case["printed"].splitlines()]
    printed = [text for text in every if f"Warning: {said}" in text or f"Warning: std(): {said}" in text]
    assert printed
    assert all(text.startswith(f"layer_norm.py:{line}: UserWarning: ") for text in printed)
