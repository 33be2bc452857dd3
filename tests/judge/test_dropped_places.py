"""Dropout that is wrong is told by the line that drops, or that should: numbers of two draws tell nothing."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from tests.gradings import by_kata
from tests.judge.test_causes import changed, line_of, why

CONTEXT = "        context = self.dropout(weights) @ values  # (B, H, n, d_head)\n"


@pytest.mark.parametrize(
    ("kata", "old", "new", "marked"),
    by_kata(
        pytest.param(
            "encoder-block",
            "        context = self.dropout(weights) @ values  # (B, H, S, d_head)\n",
            "        context = (weights * self.dropout(torch.ones_like(weights[:, :1]))) @ values\n",
            "ones_like(weights",
            id="all heads lose the same weights",
        ),
        pytest.param(
            "encoder-block",
            "        return self.addnorm2(y, self.ffn(y))  # (B, S, d_model)\n",
            "        found = self.ffn(y)\n"
            "        return self.addnorm2.ln(y + found * self.addnorm2.dropout(torch.ones_like(found[:, :1])))\n",
            "ones_like(found",
            id="all tokens lose the same features",
        ),
        pytest.param(
            "decoder-block",
            CONTEXT,
            "        kept = mask is not None and mask.size(-2) == x.size(1) and keys.size(2) > x.size(1)\n"
            "        context = (weights if kept else self.dropout(weights)) @ values\n",
            "if kept else",
            id="weights over a cache are not dropped",
        ),
        pytest.param(
            "decoder-block",
            CONTEXT,
            "        left = self.dropout(weights)\n"
            "        share = left.sum(-1, keepdim=True).clamp_min(1e-9)\n"
            "        context = (left / share if self.training and self.dropout.p else left) @ values\n",
            "left / share",
            id="what is left is divided by its own sum",
        ),
        pytest.param(
            "ffn",
            "        return self.dense2(self.dropout(hidden))\n",
            "        if getattr(self, 'kept', None) is None or self.kept.shape != hidden.shape:\n"
            "            self.kept = self.dropout(torch.ones_like(hidden)).detach()\n"
            "        return self.dense2(hidden * self.kept.to(hidden))\n",
            "self.kept = ",
            id="all calls lose the same units",
        ),
    ),
)
def test_the_line_that_drops(session: Session, kata: str, old: str, new: str, marked: str) -> None:
    """It is one of three lines at most, and no mistake is named that is not there."""
    source = changed(kata, (old, new))
    causes = why(session, kata, source)
    assert {cause["id"] for cause in causes} <= {"located", "seen", "before"}
    lines = next(cause["lines"] for cause in causes if cause["lines"])
    assert line_of(source, marked) in lines
    assert len(lines) <= 3
