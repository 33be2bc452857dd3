"""A named mistake that no step shows is told where its words stand; what was measured comes before that."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import known_answers
from tests.gradings import SEED, of_kata


@pytest.mark.parametrize(
    ("kata", "answer", "cause", "stands"),
    [
        of_kata("bleu", "bleu", "d2l_joined", "glued-together", '"".join(', name="text"),
        of_kata("flash-attention", "flash-attention", "minus_logsumexp", "minus-logsumexp", "s.logsumexp", name="call"),
        of_kata(
            "strided-attention",
            "strided-attention",
            "every_key_then_a_mask",
            "whole-score-matrix",
            "scores = torch.einsum(",
            name="measured",
        ),
    ],
)
def test_its_line(session: Session, kata: str, answer: str, cause: str, stands: str) -> None:
    """The line that is told first has it."""
    source = next(known.source for known in known_answers(catalog.find(kata)) if known.name == answer)
    report = session.grade(Request(kata, source, catalog.find(kata).filename, seed=SEED), many=True)
    first = report["causes"][0]
    assert first["id"] == cause
    assert stands in first["code"]
