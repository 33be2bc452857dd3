"""Why cases fail: named mistakes with their lines, and places where no name is known."""

from __future__ import annotations

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.explain.locate.match import near
from tests.gradings import SEED, by_kata, on_its_worker


def why(session: Session, kata: str, source: str, case: str = "", **more) -> list[dict]:
    """Return the causes of an answer's failures."""
    report = session.grade(Request(kata, source, catalog.find(kata).filename, seed=SEED, case=case, **more), many=True)
    assert report["verdict"] == "failed"
    failing = sorted(case["id"] for case in report["cases"] if case["outcome"] in ("failed", "timeout", "crashed"))
    every = [case for cause in report["causes"] for case in cause["cases"]]
    placed = [case for cause in report["causes"] if cause["id"] in ("located", "seen") for case in cause["cases"]]
    assert sorted(set(every)) == failing
    assert all(every.count(case) == 1 for case in placed)  # only mistakes in one file have cases in common
    return report["causes"]


def changed(kata: str, *edits: tuple[str, str]) -> str:
    """Return the reference with changes."""
    text = catalog.find(kata).reference()
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def line_of(source: str, text: str) -> int:
    """Return the number of the only line with a text."""
    (found,) = (number for number, line in enumerate(source.splitlines(), 1) if text in line)
    return found


@on_its_worker("mha")
def test_a_named_mistake_has_its_line(session: Session) -> None:
    """The name comes with the place in the answer that it is about."""
    source = changed("mha", ("                mask = mask.unsqueeze(1)  # (B, 1, n, m)\n", "                pass\n"))
    first = why(session, "mha", source)[0]
    assert first["title"]
    assert first["push"]
    assert line_of(source, "masked_fill(~mask, float") in first["lines"]


@on_its_worker("sdpa")
def test_a_place_is_shown_in_a_case_that_is_taken_in_at_a_glance(session: Session) -> None:
    """It is looked for in a large call; the page shows the first small one that fails alike, as a picture."""
    source = changed(
        "sdpa", ("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores * 1.5, dim=-1)")
    )
    first = why(session, "sdpa", source)[0]
    assert first["id"] == "located"
    assert first["evidence"]["case"] == "core/by_hand"
    assert first["evidence"]["picture"]


@on_its_worker("sdpa")
@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("scores = q @ k.transpose(-2, -1)  # (B, n, m)", "scores = (q + 0.1) @ k.transpose(-2, -1)", "(q + 0.1)"),
        ("output = weights @ v  # (B, n, d_v)", "output = weights @ v.flip(-2)", "v.flip(-2)"),
        ("scores = scores / math.sqrt(d_k)", "scores = scores / math.sqrt(d_k + 1)", "d_k + 1"),
        ("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores * 1.5, dim=-1)", "* 1.5"),
    ],
)
def test_a_mistake_that_nobody_knows_is_located(session: Session, old: str, new: str, marked: str) -> None:
    """The one line that is wrong, and what is right before it."""
    source = changed("sdpa", (old, new))
    first = why(session, "sdpa", source)[0]
    assert first["id"] == "located"
    assert first["lines"] == [line_of(source, marked)]
    assert first["where"] == f"sdpa.py:{first['line']}"
    assert "right" in first["evidence"]["steps"].lower()


@on_its_worker("mha")
def test_another_style_is_not_blamed(session: Session) -> None:
    """Queries that are scaled first, heads that are folded: only the line that is wrong."""
    source = """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)

    def fold(self, x):
        b, s, _ = x.shape
        return x.reshape(b, s, self.h, self.d).permute(0, 2, 1, 3).reshape(b * self.h, s, self.d)

    def forward(self, q, k, v, mask=None):
        b, n = q.shape[:2]
        m = k.shape[1]
        qs = self.fold(self.W_q(q)) * self.d ** -0.5
        ks = self.fold(self.W_k(k))
        vs = self.fold(self.W_v(v))
        s = torch.einsum("bnd,bmd->bnm", qs, ks).reshape(b, self.h, n, m)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            s = s.masked_fill(~mask, float("-inf"))
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        c = torch.einsum("bnm,bmd->bnd", self.drop(w).reshape(b * self.h, n, m), vs)
        c = c.reshape(b, self.h, n, self.d).permute(0, 2, 1, 3).reshape(b, n, -1)
        return self.W_o(c + 0.01), w
"""
    first = why(session, "mha", source)[0]
    assert first["lines"] == [line_of(source, "c + 0.01")]


@on_its_worker("mha")
def test_heads_that_are_merged_wrongly_are_merged_at_that_line(session: Session) -> None:
    """Moving numbers makes none, so the line that moves them is among those that are named."""
    source = changed(
        "mha",
        (
            "x = x.transpose(1, 2)  # (B, S, H, d_head)\n        return x.flatten(2)",
            "return x.reshape(x.size(0), x.size(2), -1)",
        ),
    )
    first = why(session, "mha", source)[0]
    assert line_of(source, "x.reshape(x.size(0), x.size(2), -1)") in first["lines"]
    assert len(first["lines"]) <= 2


@on_its_worker("mha")
def test_a_step_that_is_missing(session: Session) -> None:
    """What is returned has right numbers, too early."""
    source = changed("mha", ("output = self.W_o(self.concat_heads(context))", "output = self.concat_heads(context)"))
    first = why(session, "mha", source)[0]
    assert line_of(source, "output = self.concat_heads(context)") in first["lines"] or first["lines"]


@on_its_worker("sdpa")
def test_in_chinese(session: Session) -> None:
    """The place is told in the language that was asked for."""
    source = changed("sdpa", ("output = weights @ v  # (B, n, d_v)", "output = weights @ v.flip(-2)"))
    (first, *_others) = why(session, "sdpa", source, lang="zh")
    assert "行" in first["evidence"]["steps"]


@on_its_worker("sdpa")
def test_an_answer_that_passes_is_asked_for_no_steps(session: Session) -> None:
    """Nothing is explained where nothing fails."""
    report = session.grade(Request("sdpa", catalog.find("sdpa").reference(), "sdpa.py", seed=SEED), many=True)
    assert report["verdict"] == "passed"
    assert report["causes"] == []


# --- failures that are no wrong numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kata", "old", "new", "marked", "word"),
    by_kata(
        ("sdpa", "output = weights @ v  # (B, n, d_v)", "output = weights.detach() @ v", "weights.detach()", "graph"),
        (
            "sdpa",
            "    d_k = k.size(-1)",
            "    d_k = k.size(-1)\n    k.data.mul_(1.0)\n    v.data.add_(1.0)",
            "v.data",
            "written",
        ),
        ("sdpa", "output = weights @ v  # (B, n, d_v)", "output = (weights @ v).float()", ".float()", "float32"),
        ("sdpa", "    return output, weights", "    return [output]", "return [output]", "returns"),
        (
            "mha",
            "self.W_k = nn.Linear(d_model, d_model, bias=bias)",
            "self.W_k = nn.Linear(d_model, d_model)",
            "W_k =",
            "made",
        ),
    ),
)
def test_other_failures_have_a_line(session: Session, kata: str, old: str, new: str, marked: str, word: str) -> None:
    """Where the graph is cut, an input is changed, a dtype comes in, a result is returned, a layer is made."""
    source = changed(kata, (old, new))
    found = why(session, kata, source)
    marked_line = line_of(source, marked)
    assert any(marked_line in cause["lines"] and word in cause["evidence"]["steps"] for cause in found), found


@on_its_worker("sdpa")
def test_a_step_that_is_wrong_where_it_hardly_shows(session: Session) -> None:
    """Weights that are cut off look right beside 1, and are not beside values of 1e32."""
    source = changed(
        "sdpa",
        ("output = weights @ v", "weights = weights.masked_fill(weights < 1e-12, 0.0)\n    output = weights @ v"),
    )
    found = why(session, "sdpa", source)
    assert any(line_of(source, "1e-12") in cause["lines"] for cause in found)


def test_truth_values_are_no_numbers() -> None:
    """A mask beside numbers of the same shape is another thing, and is not taken from them."""
    mask, other, numbers = torch.tensor([True, False]), torch.tensor([True, True]), torch.tensor([1.0, 0.0])
    assert near(mask, mask.clone(), 0.0)
    assert not near(mask, other, 0.5)
    assert not near(mask, numbers, 0.5)
    assert not near(numbers, mask, 0.5)


@on_its_worker("sdpa")
def test_a_wrong_result_has_a_picture(session: Session) -> None:
    """A window of at most eight by eight around the first wrong number, of the weights where they are wrong."""
    source = changed("sdpa", ("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores, dim=-2)"))
    picture = why(session, "sdpa", source)[0]["evidence"]["picture"]
    assert picture["label"].startswith("weights")
    assert len(picture["expected"]) == len(picture["got"]) <= 8
    assert picture["expected"] != picture["got"]
    assert all(len(row) <= 8 for row in picture["got"])


@on_its_worker("masked-softmax")
def test_a_picture_has_words_for_what_is_no_number(session: Session) -> None:
    """JSON has no NaN."""
    source = changed("masked-softmax", ("return weights.masked_fill(~mask, 0.0)", "return weights"))
    picture = why(session, "masked-softmax", source, case="mask/nothing")[0]["evidence"]["picture"]
    assert "nan" in [number for row in picture["got"] for number in row]


@on_its_worker("mha")
def test_a_mistake_that_is_right_in_a_case_is_not_named_for_it(session: Session) -> None:
    """A scale that goes through float32 costs digits of float64; no mistake of another family is blamed for that."""
    source = changed("mha", ("/ math.sqrt(self.d_head)", "/ float(torch.tensor(self.d_head).sqrt())"))
    found = why(session, "mha", source)
    assert {cause["id"] for cause in found} <= {"located", "seen", "scale-in-float32"}
    line = line_of(source, "float(torch.tensor")
    assert any(cause["id"] == "scale-in-float32" or line in cause["lines"] for cause in found)


@on_its_worker("sdpa")
def test_what_is_out_of_bounds_comes_first(session: Session) -> None:
    """Before a mistake that has a name: with the library's own function there is nothing to explain."""
    source = """
import torch
import torch.nn.functional as F

def scaled_dot_product_attention(q, k, v, mask=None):
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    return output, weights
"""
    first = why(session, "sdpa", source)[0]
    assert "out of bounds" in first["evidence"]["message"]
    assert first["lines"] == [line_of(source, "output = F.")]


@on_its_worker("rope")
def test_complex_numbers_are_pairs(session: Session) -> None:
    """A rotation that is written with complex numbers is looked at like any other."""
    source = (
        catalog.find("rope").reference()
        + """

def apply_rotary(x, cos, sin):
    half = x.size(-1) // 2
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], half, 2).contiguous())
    turns = torch.polar(torch.full_like(cos[..., :half].float(), 1.5), torch.atan2(sin, cos)[..., :half].float())
    turned = torch.view_as_real(pairs * turns).flatten(-2)
    return turned.to(x.dtype)
"""
    )
    found = why(session, "rope", source)
    assert any(cause["id"] == "located" for cause in found)


# --- numbers, lists and tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kata", "edits", "marked", "most"),
    by_kata(
        ("greedy-decode", (("        written.append(token)", "        written.append(token % 3)"),), "token % 3", 3),
        ("beam-search", (("candidates[:beam]", "candidates[: min(beam, 4)]"),), "min(beam, 4)", 2),
        ("bleu", (("matches / (len(pred) - n + 1)", "matches / (len(pred) - n + 2)"),), "- n + 2", 4),
        ("bleu", (("for n in range(1, min(k", "for n in range(1, min(k - 1"),), "k - 1", 2),
    ),
)
def test_decoders_and_scores_are_located(session: Session, kata: str, edits: tuple, marked: str, most: int) -> None:
    """What names stand for tells where Python's numbers and lists go wrong."""
    source = changed(kata, *edits)
    first = why(session, kata, source)[0]
    assert line_of(source, marked) in first["lines"]
    assert len(first["lines"]) <= most


@on_its_worker("sdpa")
def test_digits_that_are_lost_have_a_line(session: Session) -> None:
    """An epsilon that only shows in float64 is where the digits end."""
    source = changed("sdpa", ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-1) * (1 - 1e-11)"))
    assert any(line_of(source, "1e-11") in cause["lines"] for cause in why(session, "sdpa", source))


@on_its_worker("sdpa")
def test_what_only_large_calls_show_is_located(session: Session) -> None:
    """A call of a thousand tokens is looked at where no smaller one fails."""
    source = changed(
        "sdpa",
        (
            "output = weights @ v",
            "weights = weights * (torch.arange(weights.size(-1)) < 200)\n    output = weights @ v",
        ),
    )
    found = why(session, "sdpa", source)
    assert any(line_of(source, "< 200") in cause["lines"] for cause in found)


@on_its_worker("add-norm")
def test_what_is_drawn_at_random_is_located(session: Session) -> None:
    """A case that compares no numbers still shows where the answer leaves the reference."""
    source = changed("add-norm", ("self.dropout(y)", "self.dropout(self.dropout(y))"))
    assert any(line_of(source, "self.dropout(self.") in cause["lines"] for cause in why(session, "add-norm", source))


@on_its_worker("sdpa")
def test_what_is_made_elsewhere_has_a_line(session: Session) -> None:
    """A result on the CPU while the inputs are not: the line that makes it there."""
    source = changed("sdpa", ("    return output, weights", "    output = output.cpu()\n    return output, weights"))
    found = why(session, "sdpa", source)
    assert any(line_of(source, "output.cpu()") in cause["lines"] for cause in found)


@on_its_worker("kv-cache")
def test_work_that_is_done_twice_has_a_line(session: Session) -> None:
    """Which line asks for most of what the reference does not do."""
    source = changed(
        "kv-cache",
        (
            "        queries = self.split_heads(self.W_q(x))",
            "        for _ in range(99):\n            self.W_q(x)\n        queries = self.split_heads(self.W_q(x))",
        ),
    )
    found = why(session, "kv-cache", source, case="cost")
    assert any(line_of(source, "            self.W_q(x)") in cause["lines"] for cause in found)


@pytest.mark.parametrize(
    ("kata", "old", "new", "marked"),
    by_kata(
        ("layer-norm", "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)", "(torch.sqrt(variance) + eps)"),
        (
            "self-attention",
            "self.W_v = nn.Linear(d_model, d_v, bias=bias)",
            "self.W_v = nn.Linear(d_model, d_v, bias=False)",
            "self.W_v = nn.Linear",
        ),
    ),
)
def test_a_place_is_not_the_one_behind_it(session: Session, kata: str, old: str, new: str, marked: str) -> None:
    """A step that is wrong by less than a step may be is none that is right; a layer that lacks a bias has its line."""
    source = changed(kata, (old, new))
    assert any(line_of(source, marked) in cause["lines"] for cause in why(session, kata, source))


@on_its_worker("mha")
def test_layers_are_made_in_any_order(session: Session) -> None:
    """A mistake is named though the keys' layer is made before that of the queries."""
    query, key = (f"        self.{name} = nn.Linear(d_model, d_model, bias=bias)\n" for name in ("W_q", "W_k"))
    source = changed(
        "mha", (query + key, key + query), ("math.sqrt(self.d_head)", "math.sqrt(self.d_head * self.n_heads)")
    )
    assert [cause["id"] for cause in why(session, "mha", source)] == ["scale-d-model"]


@on_its_worker("packed-attention")
def test_steps_without_numbers_do_not_end_the_search(session: Session) -> None:
    """A sequence is empty, and so are the scores within it, whose maximum nobody can take."""
    old = "        queries = q[start:end]"
    new = f"        if not length:\n            outputs.append(torch.zeros_like(v[start:]))\n            break\n{old}"
    assert why(session, "packed-attention", changed("packed-attention", (old, new)))
