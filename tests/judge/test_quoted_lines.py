"""Of the lines of a place one is quoted, and that is a wrong one; where little is known, few lines are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader import catalog
from grader.client.session import Session
from grader.dev.answers import known_answers
from tests.gradings import by_kata, on_its_worker
from tests.judge.test_causes import changed, line_of, why
from tests.marked import marks


def first_with_lines(session: Session, kata: str, answer: str) -> tuple[dict[str, Any], frozenset[int]]:
    """Return the first cause of a known wrong answer that has lines, and the lines that are wrong."""
    known = next(one for one in known_answers(catalog.find(kata)) if Path(one.name).stem == answer)
    return next(cause for cause in why(session, kata, known.source) if cause["lines"]), marks(known)


@pytest.mark.parametrize(
    ("kata", "answer", "most"),
    by_kata(
        pytest.param("rope", "device_or_cpu", 3, id="who chooses, before who is given it"),
        pytest.param("swiglu", "llama_multiple_of", 2, id="a size, before the layer that has it"),
        pytest.param("rms-norm", "squares_in_half", 2, id="a dtype, before who computes in it"),
        pytest.param("moe", "a_thousand_tokens_for_each", 6, id="the own line among those of the model answer"),
        pytest.param("gqa", "small_weights_cut", 1, id="keys of one number are known by what they are made of"),
        pytest.param("transformer", "floor_under_the_weights", 4, id="weights of few numbers are followed"),
        pytest.param("sdpa", "one_query_needs_no_shared_mask", 4, id="a mask that is made None"),
        pytest.param("fold-heads", "unfolds_by_batch_size", 1, id="axes are followed to where they turn"),
        pytest.param("lora", "everything_frozen", 3, id="who freezes, before what is frozen"),
        pytest.param("lora", "trainable_after_merging", 3, id="a weight that is made anew"),
        pytest.param("rope", "first_row_for_one_token", 2, id="a rotation by nothing"),
    ),
)
def test_a_wrong_line_is_quoted(session: Session, kata: str, answer: str, most: int) -> None:
    """It is among so many lines at most."""
    cause, marked = first_with_lines(session, kata, answer)
    assert len(cause["lines"]) <= most
    assert cause["line"] in marked


def test_where_something_is_left_out_the_first_line_is_quoted(session: Session) -> None:
    """The mask meets the heads where it is used, in a line that the model answer has word for word."""
    fill = '            scores = scores.masked_fill(~mask, float("-inf"))\n'
    source = changed(
        "mha",
        ("            if mask.dim() == 3:\n                mask = mask.unsqueeze(1)  # (B, 1, n, m)\n", ""),
        ("torch.softmax(scores, dim=-1)\n", "torch.softmax(scores, dim=-1).nan_to_num(0.0)\n"),
    )
    cause = why(session, "mha", source)[0]
    assert cause["id"] == "mask-over-heads"
    assert cause["line"] == line_of(source, fill.strip())


@pytest.mark.parametrize(
    ("kata", "name", "stands"),
    by_kata(
        pytest.param("rms-norm", "rms_norm_of_the_paper", "x / (rms_x + eps)", id="behind what is computed otherwise"),
        pytest.param("alibi", "alibi_of_the_paper", "torch.arange(m)", id="behind the slopes of another file"),
        pytest.param("kv-cache", "kv_cache_new_before_old", "torch.cat([k, cache[0]]", id="behind the heads"),
        pytest.param("bleu", "bleu_two_slips", "len(pred) / len(label)", id="where numbers tell nothing, by its words"),
        pytest.param("mha", "mha_annotated_dropout", "mask.unsqueeze(1)", id="what is done on another condition"),
    ),
)
def test_a_name_is_quoted_where_it_first_shows(session: Session, kata: str, name: str, stands: str) -> None:
    """The line whose result is that of the mistake, not one before it that is computed in a way of its own."""
    source = (Path(__file__).parents[1] / "told" / f"{name}.py").read_text()
    assert any(stands in cause["code"] for cause in why(session, kata, source))


@on_its_worker("rope")
def test_a_wider_place_of_few_cases_is_no_cause_of_its_own(session: Session) -> None:
    """One wrong line is one cause, whichever other lines cannot be told apart in a call of few numbers."""
    wrong = ("torch.arange(0, d_head, 2, dtype=torch.float64", "2 * torch.arange(0, d_head, 2, dtype=torch.float64")
    causes = [cause for cause in why(session, "rope", changed("rope", wrong)) if cause["id"] == "located"]
    assert len({cause["title"] for cause in causes}) == len(causes) == 1
