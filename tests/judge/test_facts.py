"""What is said of a wrong result that no known mistake explains, through real processes."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, on_its_worker

ATTENTION = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    output = weights @ v
    {change}
    return output, weights
"""
CHANGES = {
    "scaled": "output = 0.5 * output",
    "shifted": "output = output.roll(1, -2)",
    "rows": "weights = weights.sqrt()",
    "uniform": "weights = (weights > 0) / (weights > 0).sum(-1, keepdim=True).clamp_min(1).to(q.dtype)",
    "batch": "output = output + 0.1 * output.mean(0, keepdim=True)",
    "order": "output = output + 0.1 * v.cumsum(-2).mean(-2, keepdim=True)",
}


@on_its_worker("sdpa")
@pytest.mark.parametrize("name", CHANGES)
def test_a_fact_about_the_result(session: Session, name: str) -> None:
    """Where nothing fits, what holds for the result is said, and only then."""
    source = ATTENTION.format(change=CHANGES[name])
    report = session.grade(Request("sdpa", source, catalog.find("sdpa").filename, seed=SEED, case="core/"), many=True)
    assert report["verdict"] == "failed"
    assert report["mistakes"] == []
    assert name in [fact["id"] for fact in report["facts"]]


@on_its_worker("sdpa")
def test_no_fact_beside_a_mistake_and_none_about_a_correct_answer(session: Session) -> None:
    """A named mistake is the better story; a correct answer has none."""
    filename = catalog.find("sdpa").filename
    correct = session.grade(
        Request("sdpa", ATTENTION.format(change="pass"), filename, seed=SEED, case="core/"), many=True
    )
    assert (correct["verdict"], correct["facts"]) == ("passed", [])
    unscaled = ATTENTION.format(change="pass").replace(" / k.size(-1) ** 0.5", "")
    named = session.grade(Request("sdpa", unscaled, filename, seed=SEED, case="core/"), many=True)
    assert named["mistakes"]
    assert named["facts"] == []


@on_its_worker("fold-heads")
def test_nothing_about_sequences_where_the_first_axis_holds_heads(session: Session) -> None:
    """A fact needs a result in which the reference shows that it can be otherwise."""
    kata = catalog.find("fold-heads")
    squeezed = (
        kata.reference()
        + "\n\n_unfold = unfold_heads\n\n\ndef unfold_heads(x, n_heads):\n    return _unfold(x, n_heads).squeeze()\n"
    )
    report = session.grade(Request(kata.id, squeezed, kata.filename, seed=SEED, case="core/"), many=True)
    assert report["verdict"] == "failed"
    assert "batch" not in [fact["id"] for fact in report["facts"]]


@on_its_worker("sdpa")
def test_a_sentence_in_chinese(session: Session) -> None:
    """Facts follow the language."""
    source = ATTENTION.format(change=CHANGES["scaled"])
    report = session.grade(Request("sdpa", source, "sdpa.py", seed=3, case="core/", lang="zh"))
    assert "0.5" in report["facts"][0]["explain"]
    assert "right result" not in report["facts"][0]["explain"]
