"""The place that is told holds the faulty line: whoever chose what goes in is in it, and what is no tensor."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from grader.dev.answers import Known
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.words import listed
from tests.gradings import KATAS_A_DAY, answers_of, by_kata, on_its_worker
from tests.judge.test_causes import changed, line_of, why
from tests.marked import changed as marked_lines
from tests.marked import marks


@pytest.mark.parametrize(
    ("kata", "old", "new", "marked"),
    by_kata(
        pytest.param(
            "mask-dialects", "LOWEST_BIAS = -1e3", "LOWEST_BIAS = -32752.0", "= -32752.0", id="number of the file"
        ),
        pytest.param(
            "masked-softmax",
            '    masked_scores = scores.masked_fill(~mask, float("-inf"))\n',
            '    masked_scores = scores.masked_fill(~mask, float("-inf"))\n'
            "    if mask.size(-1) > 4:\n        masked_scores = (scores)\n",
            "(scores)",
            id="another name for what was there",
        ),
        pytest.param(
            "split-heads",
            "    tokens = x.transpose(1, 2)  # (B, S, H, d_head)",
            "    x = x.flip(1)\n    tokens = x.transpose(1, 2)  # (B, S, H, d_head)",
            "x.flip(1)",
            id="right numbers in another order",
        ),
        pytest.param(
            "positional-encoding",
            "table[:, 0::2] = torch.sin(angles)",
            "table[:, 0::2] = torch.sin(angles) + 0.5",
            "+ 0.5",
            id="what was made before the call",
        ),
        pytest.param(
            "attention-backward",
            "    d_weights = d_output @ v.transpose(-2, -1)  # (B, n, m)",
            "    d_weights = (d_output + 0.1) @ v.transpose(-2, -1)",
            "d_output + 0.1",
            id="two results hang on it",
        ),
        pytest.param(
            "layer-norm",
            "wide = x.to(torch.promote_types(x.dtype, torch.float32))",
            "wide = x.float()",
            "x.float()",
            id="digits that only float64 has",
        ),
        pytest.param("sdpa", "return output, weights", "return weights, output", "return weights", id="exchanged"),
        pytest.param(
            "gqa", "if d_model % n_heads != 0", "if d_model % n_heads > 99", "n_heads > 99", id="a check that passes"
        ),
        pytest.param(
            "encoder-block",
            "self.addnorm2(y, self.ffn(y))",
            "self.addnorm2(y, self.ffn(x))",
            "self.ffn(x)",
            id="caller",
        ),
        pytest.param(
            "attention-backward",
            "weights * (d_weights - average)",
            "d_weights - 0.0 * average",
            "0.0 * average",
            id="a right step that ends too early",
        ),
        pytest.param(
            "mha", "mask = mask.unsqueeze(1)", "mask = mask.unsqueeze(2)", "unsqueeze(2)", id="a mask on other axes"
        ),
        pytest.param(
            "layer-norm",
            "bias: Tensor, eps: float = 1e-5)",
            "bias: Tensor, eps: float = 1e-3)",
            "eps: float = 1e-3",
            id="a default",
        ),
        pytest.param(
            "masks",
            "    if m is None:\n        m = n\n",
            "    device = device or 'cpu'\n    if m is None:\n        m = n\n",
            "or 'cpu'",
            id="a device that is chosen",
        ),
        pytest.param(
            "mla",
            "visible = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(",
            "visible = torch.ones(new, total, dtype=torch.bool).tril(",
            "visible = torch.ones",
            id="made on the CPU, and met in the next line",
        ),
        pytest.param(
            "static-cache", "self.length = end", "self.length = end % 256", "end % 256", id="where an attribute changes"
        ),
        pytest.param(
            "mask-dialects",
            'if mask.is_floating_point() != (dialect == "additive"):',
            'if mask.is_floating_point() != (dialect == "additive") or mask.dtype == torch.uint8:',
            "mask.dtype == torch.uint8",
            id="the condition of a raise",
        ),
        pytest.param(
            "speculative",
            "target_probs[:drafts].gather(1, columns)",
            "target_probs[1:].gather(1, columns)",
            "target_probs[1:]",
            id="a number of Python's, back to its tensors",
        ),
        of=4,
    ),
)
def test_the_faulty_line_is_in_the_place(session: Session, kata: str, old: str, new: str, marked: str) -> None:
    """Of a mistake that is looked for by its place alone."""
    source = changed(kata, (old, new))
    cause = why(session, kata, source, named=False)[0]
    assert line_of(source, marked) in cause["lines"], cause


@pytest.mark.parametrize(
    ("kata", "name"),
    by_kata(
        pytest.param("mask-dialects", "keep-and-hide-swapped", id="a condition that hands something else back"),
        pytest.param("decoder-block", "memory-mask-ignored", id="whoever called without it"),
        pytest.param(
            "valid-lens", "lengths-on-the-queries", id="lengths on other axes, and what they are compared with"
        ),
        pytest.param("rope", "tables_per_sequence_where_sizes_agree", id="right numbers on other axes, in a branch"),
        pytest.param("gqa", "values-are-keys", id="another tensor that is right"),
        pytest.param("mha", "self-attention-only", id="the same tensor twice"),
        pytest.param("mask-dialects", "dtype-not-checked", id="a check that is missing beside others"),
        pytest.param("fold-heads", "no-divisibility-check", id="a check that is missing, and something fails later"),
        pytest.param("paged-cache", "shared-block-is-written", id="what a check asks about"),
        pytest.param("paged-cache", "n_free_is_a_method", id="a method where a property should be"),
        pytest.param("bahdanau-decoder", "float32-weights", id="what an earlier call left"),
        pytest.param("decoder-block", "nan-gradient", id="NaN that is taken out of the result alone"),
        pytest.param("static-cache", "whole-buffer-returned", id="a choice of what is handed back"),
        pytest.param("transformer", "causal-only-in-evaluation", id="a mask of each layer"),
        pytest.param("flash-attention", "aligned-top-left", id="a mask of each turn of a loop"),
        of=4,
    ),
)
def test_the_place_is_narrow_and_holds_the_faulty_line(session: Session, kata: str, name: str) -> None:
    """Of known wrong answers, by their places alone: four statements at most."""
    answer = next(one for one in answers_of(kata) if one.name == name and one.kind in ("wrong", "mistake"))
    cause = next(cause for cause in why(session, kata, answer.source, named=False) if cause["lines"])
    assert marks(answer) & set(cause["lines"]), cause
    assert len(cause["lines"]) <= 4, cause


def test_a_detour_that_the_model_answer_takes_is_not_blamed(session: Session) -> None:
    """Where a gradient is wrong by a little, what begins with zeros has not cut it off."""
    (answer,) = (
        one for one in answers_of("flash-attention") if one.name == "minus-logsumexp" and one.kind == "mistake"
    )
    causes = why(session, "flash-attention", answer.source, named=False)
    zeros = {line_of(answer.source, "maximum = torch.full_like"), line_of(answer.source, "total = torch.zeros_like")}
    cut = [cause for cause in causes if cause["title"] == "a gradient is cut off"]
    assert all(zeros.isdisjoint(cause["lines"]) for cause in cut), causes


def test_checks_of_helpers_are_checks_of_their_callers() -> None:
    """What should be refused passes a condition in a method that was called, or in what that calls."""
    source = (
        "def positive(n):\n    if n < -1:\n        raise ValueError\n\n\n"
        "class Cache:\n"
        "    def find(self, n):\n        positive(n)\n"
        "        if n > 9:\n            raise ValueError\n        return n\n\n"
        "    def gather(self, n):\n        return self.find(n)\n"
    )
    statements = Statements(source)
    assert statements.guards(statements.function("Cache", "gather")) == [9, 2]


@pytest.mark.one_of_many(of=KATAS_A_DAY)
@on_its_worker("bahdanau-decoder")
def test_a_list_that_was_handed_in_is_filled(session: Session) -> None:
    """The line that writes into a state which others may still hold."""
    (answer,) = (one for one in answers_of("bahdanau-decoder") if one.name == "state-written-into")
    causes = why(session, "bahdanau-decoder", answer.source, named=False)
    assert any(cause["lines"] == [line_of(answer.source, "state[1] = hidden")] for cause in causes), causes


@on_its_worker("self-attention")
def test_what_rounding_does_is_not_blamed(session: Session) -> None:
    """Scores of a million are rounded by what changes the weights; it is the fill that is wrong."""
    source = changed(
        "self-attention",
        ('scores.masked_fill(~mask, float("-inf"))', "scores.masked_fill(~mask, scores.detach().min().item() - 1e4)"),
    )
    cause = why(session, "self-attention", source, named=False)[0]
    assert line_of(source, "- 1e4") in cause["lines"]


def test_marks_are_where_statements_differ() -> None:
    """A changed statement is marked; for a missing one those above and below it and the first to read what it made."""
    right = "def f(x):\n    a = x + 1\n    b = a * 2\n    return b\n"
    assert marked_lines("def f(x):\n    # why\n    a = x + 1\n    b = a * 3\n    return b\n", right) == {4}
    assert marked_lines("def f(x):\n    a = x + 1\n    return b\n", right) == {2, 3}
    assert marked_lines(
        "def f(x):\n    b = 1\n    return x\n", "def f(x):\n    x = x + 1\n    b = 1\n    return x\n"
    ) == {1, 2, 3}
    assert marked_lines("def f(x: int) -> int:\n    a = x + 1\n    b = a * 2\n    return b\n", right) == frozenset()
    assert marked_lines("def f(x):\n    a = x + 1\n    b = b * 1.0\n    return b\n", right) == {2, 3, 4}
    assert marks(Known("sdpa", "wrong", "other", "def g():\n    pass\n")) == frozenset()


def test_lines_are_named_briefly() -> None:
    """A few one by one, a block by its ends, and of many that are apart those behind one another together."""
    assert listed([7]) == "line 7"
    assert listed([9, 7, 40]) == "lines 7, 9, 40"
    assert listed([7, 8, 10, 9]) == "lines 7 to 10"
    assert listed([26, 28, 36, 37, 38, 50, 51]) == "lines 26, 28, 36-38, 50, 51"
