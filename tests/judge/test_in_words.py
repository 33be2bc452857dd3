"""What no step shows is told where its words or numbers stand; what was measured comes before that."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, answers_of, by_kata


@pytest.mark.parametrize(
    ("kata", "answer", "cause", "stands"),
    by_kata(
        pytest.param("bleu", "d2l_joined", "glued-together", '"".join(', id="text"),
        pytest.param("flash-attention", "minus_logsumexp", "minus-logsumexp", "s.logsumexp", id="call"),
        pytest.param(
            "strided-attention",
            "every_key_then_a_mask",
            "whole-score-matrix",
            "scores = torch.einsum(",
            id="measured",
        ),
        pytest.param("train-step", "zeroes_at_the_end", "cleared-at-the-end", "zero_grad()", id="moved"),
        pytest.param("beam-search", "log_of_softmax_plus_eps", "epsilon-in-the-logarithm", "1e-10", id="named number"),
        pytest.param("adamw", "checkpoint_without_steps", "steps-not-saved", "for name", id="function"),
        pytest.param("bpe", "tokens_of_255_bytes", "seen", "[:255]", id="number"),
        pytest.param(
            "encoder-block",
            "no_dropout_in_inference_mode",
            "gradients",
            "is_inference_mode_enabled",
            id="what asks",
        ),
        pytest.param("paged-cache", "dtype_or_float32", "located", "dtype or torch.float32", id="what chooses a dtype"),
        pytest.param("paged-cache", "device_or_cpu", "located", 'device or "cpu"', id="what chooses a device"),
    ),
)
def test_its_line(session: Session, kata: str, answer: str, cause: str, stands: str) -> None:
    """The line that is told first has it."""
    (source,) = (known.source for known in answers_of(kata) if known.name == answer)
    report = session.grade(Request(kata, source, catalog.find(kata).filename, seed=SEED), many=True)
    first = report["causes"][0]
    assert first["id"] == cause
    assert stands in first["code"]
