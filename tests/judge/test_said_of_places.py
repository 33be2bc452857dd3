"""What is said of a place: a default, a shape, a debugger, what never ends; and what is not said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.explain.locate.quoted import text_at
from tests.gradings import SEED, by_kata, on_its_worker
from tests.judge.test_causes import changed, line_of, why

TOLD = Path(__file__).parents[1] / "told"


def causes_of(session: Session, kata: str, name: str) -> list[dict[str, Any]]:
    """Return the causes of an answer of the tests, without the lines that say what is expected of it."""
    return why(session, kata, (TOLD / f"{name}.py").read_text())


@pytest.mark.parametrize(
    ("kata", "name", "said"),
    by_kata(
        pytest.param(
            "mha", "mha_annotated_dropout", "By default `dropout` is 0.1, in the task 0.0: line 21.", id="default"
        ),
        pytest.param(
            "positional-encoding",
            "positional_of_the_tutorial",
            "then the right numbers lie in another shape",
            id="shape",
        ),
        pytest.param("mha", "mha_d2l_folded_weights", "then the right numbers lie in another shape", id="folded heads"),
    ),
)
def test_what_is_said(session: Session, kata: str, name: str, said: str) -> None:
    """In one of the causes."""
    assert any(said in cause["evidence"]["steps"] for cause in causes_of(session, kata, name))


@on_its_worker("mha")
def test_a_default_is_told_by_its_name(session: Session) -> None:
    """What depends on training or evaluation, since the task drops nothing by default, is told by that default."""
    causes = causes_of(session, "mha", "mha_annotated_dropout")
    assert [cause["line"] for cause in causes if cause["title"] == "a default is not that of the task"] == [21]
    assert all(cause["id"] != "mode" for cause in causes)


@on_its_worker("sdpa")
def test_what_is_raised_at_a_line_is_used_by_nobody_for_that(session: Session) -> None:
    """A statement that fails has no result that somebody could use."""
    for cause in causes_of(session, "sdpa", "sdpa_of_the_documentation"):
        assert "Nobody uses" not in cause["evidence"]["steps"]


@on_its_worker("sdpa")
def test_of_two_names_the_one_that_what_passes_does_not_contradict(session: Session) -> None:
    """A root in float32 is no vector: half precision passes where nothing is hidden."""
    names = {cause["id"] for cause in causes_of(session, "sdpa", "sdpa_tensorflow")}
    assert names == {"mask-inverted", "scale-in-float32"}


@on_its_worker("masked-softmax")
def test_what_is_written_into_accounts_for_nothing_else(session: Session) -> None:
    """A call without a mask changes no argument, and an index that does not fit is no refusal to be written into."""
    causes = causes_of(session, "masked-softmax", "masked_softmax_d2l")
    titles = [cause["title"] for cause in causes]
    assert any("written into" in cause["evidence"]["steps"] for cause in causes)
    assert any(title.startswith("IndexError: The shape of the mask") for title in titles)
    assert [9] in [cause["lines"] for cause in causes]
    for cause in causes:
        if "written into" in cause["evidence"]["steps"]:
            assert "core/any_axis_can_hold_the_keys" not in cause["cases"]


@on_its_worker("positional-encoding")
def test_the_line_with_the_number_of_a_mistake_is_quoted(session: Session) -> None:
    """However it is written, and in whichever line of its statement."""
    causes = causes_of(session, "positional-encoding", "positional_d2l_power")
    cause = next(cause for cause in causes if cause["id"] == "base-ignored")
    assert "torch.arange(max_len" in cause["code"]
    assert all("Such a number" not in one["evidence"]["steps"] for one in causes)


def test_a_statement_is_one_text() -> None:
    """All its lines, without comments; of one with others inside its head alone."""
    source = "x = f(\n    1,  # one\n    2,\n)\nif x:\n    y = 1\n"
    assert text_at(source, 1) == "x = f( 1, 2, )"
    assert text_at(source, 5) == "if x:"


@on_its_worker("sdpa")
@pytest.mark.parametrize(
    ("statement", "title"),
    [
        pytest.param("breakpoint()", "RuntimeError: there is no debugger in a grading to stop in", id="a debugger"),
        pytest.param("raise SystemExit(0)", "your code raised SystemExit", id="an exit"),
        pytest.param("scaled_dot_product_attention(q, k, v, mask)", "your code calls itself without end", id="itself"),
    ],
)
def test_what_no_call_comes_back_from_is_one_cause_at_its_line(session: Session, statement: str, title: str) -> None:
    """Wherever it was cut off."""
    source = changed("sdpa", ("    d_k = k.size(-1)\n", f"    d_k = k.size(-1)\n    {statement}\n"))
    (cause,) = why(session, "sdpa", source)
    assert title in f"{cause['title']} {cause['evidence']['message']}"
    assert cause["line"] == line_of(source, statement)


@on_its_worker("sdpa")
def test_a_loop_without_an_end_is_one_cause(session: Session) -> None:
    """Whichever of its lines it was in when the time was over."""
    source = changed("sdpa", ("    d_k = k.size(-1)\n", "    d_k = k.size(-1)\n    while True:\n        pass\n"))
    (cause,) = why(session, "sdpa", source, case="by hand")
    assert cause["title"].startswith("no answer within")


@on_its_worker("sdpa")
def test_a_query_that_sees_nothing_has_no_row_that_sums_to_one(session: Session) -> None:
    """It is not said that a row does not sum to 1 since it does."""
    source = changed("sdpa", ('float("-inf")', "-1e9"), ("weights.masked_fill(~mask, 0.0)", "weights * 1.0"))
    causes = why(session, "sdpa", source)
    assert all("one sums to 1." not in cause["evidence"]["message"] for cause in causes)


@pytest.mark.parametrize(
    ("kata", "name", "said", "line"),
    by_kata(
        pytest.param(
            "bpe", "bpe_minbpe", "AttributeError: 'list' object has no attribute 'get'", "min(stats", id="get"
        ),
        pytest.param("bpe", "bpe_minbpe", "the result has another form than in the task", "return merges", id="form"),
        pytest.param(
            "cross-entropy", "cross_entropy_smoothed_by_scatter", "RuntimeError: index -100", ".scatter_(", id="scatter"
        ),
        pytest.param("sdpa", "sdpa_of_an_assistant", "NaN for a query without visible keys", "softmax", id="missing"),
        pytest.param(
            "split-heads",
            "split_heads_backward_by_hand",
            "a gradient that is written by hand is wrong",
            "g.reshape",
            id="backward",
        ),
    ),
)
def test_which_line_is_quoted(session: Session, kata: str, name: str, said: str, line: str) -> None:
    """That which raises, returns what has another form, or lacks a step behind it; of a `backward` its own."""
    found = [cause["code"] for cause in causes_of(session, kata, name) if cause["title"].startswith(said)]
    assert len(found) == 1
    assert line in found[0]


@on_its_worker("top-p")
def test_a_number_of_pythons_is_no_argument(session: Session) -> None:
    """What is put into a mask of the answer's own is not written into what the caller handed in."""
    (cause,) = (one for one in causes_of(session, "top-p", "top_p_gist") if one["id"] == "logits-overwritten")
    assert len(cause["lines"]) == 1


@on_its_worker("top-p")
def test_a_fact_stands_under_its_cause_alone(session: Session) -> None:
    """What is raised first has no numbers that something holds for."""
    kata = catalog.find("top-p")
    source = (TOLD / "top_p_of_the_library.py").read_text()
    report = session.grade(Request(kata.id, source, kata.filename, seed=SEED))
    assert report["causes"][0]["title"].startswith("RuntimeError")
    assert report["facts"] == []


@on_its_worker("masked-softmax")
def test_no_fact_of_numbers_stands_under_a_dtype(session: Session) -> None:
    """Whatever else is wrong in the cases of that cause."""
    kata = catalog.find("masked-softmax")
    source = (
        "import torch\n\n\ndef masked_softmax(scores, mask=None, dim=-1):\n"
        "    if mask is not None:\n        scores = scores.masked_fill(mask, -1e9)\n"
        "    return torch.softmax(scores.float(), dim=1)\n"
    )
    report = session.grade(Request(kata.id, source, kata.filename, seed=SEED))
    assert report["causes"][0]["title"] == "a result has the wrong dtype"
    assert report["facts"] == []


@on_its_worker("positional-encoding")
def test_what_is_not_there_is_told_once(session: Session) -> None:
    """However it was asked for, and as an attribute, not as a call."""
    lacking = [one for one in causes_of(session, "positional-encoding", "positional_d2l") if "has no" in one["title"]]
    assert len(lacking) <= 1
    assert all(not cause["evidence"]["call"].endswith("()") for cause in lacking)
