"""Several mistakes in one answer: each is named, at its own line, and no other."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, on_its_worker

RIGHT = """
import math
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        B, n, d = x.shape
        return x.view(B, n, self.n_heads, d // self.n_heads).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model // self.n_heads)
        if mask is not None:
            mask = mask if mask.dim() == 4 else mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1).nan_to_num()
        out = (self.dropout(weights) @ v).transpose(1, 2).reshape(q.shape[0], -1, self.d_model)
        return self.W_o(out), weights
"""

MADE = {
    "split-without-transpose": (
        "n, self.n_heads, d // self.n_heads).transpose(1, 2)",
        "self.n_heads, n, d // self.n_heads)",
    ),
    "scale-d-model": ("math.sqrt(self.d_model // self.n_heads)", "math.sqrt(self.d_model)"),
    "mask-inverted": ("masked_fill(~mask", "masked_fill(mask"),
    "dropped-weights-returned": (
        "weights = scores.softmax(-1).nan_to_num()",
        "weights = self.dropout(scores.softmax(-1).nan_to_num())",
    ),
    "no-divisibility-check": ("if d_model % n_heads:", "if d_model < 0:"),
}
"""How each mistake of the bank is made in that answer."""
AT = {
    "split-without-transpose": "return x.view(",
    "scale-d-model": "math.sqrt(",
    "mask-inverted": "masked_fill(",
    "no-divisibility-check": "if d_model <",
}
"""What stands in the line that a person is sent to; weights after dropout may show in a gradient alone, without one."""


@on_its_worker("mha")
@pytest.mark.parametrize(
    "names",
    [
        ("split-without-transpose", "scale-d-model"),
        ("split-without-transpose", "scale-d-model", "mask-inverted"),
        ("scale-d-model", "mask-inverted", "dropped-weights-returned"),
        ("split-without-transpose", "scale-d-model", "no-divisibility-check"),
        ("scale-d-model", "dropped-weights-returned"),
    ],
    ids="+".join,
)
def test_each_is_named_at_its_line(session: Session, names: tuple[str, ...]) -> None:
    """Mistakes that do only together what the answer did are named all the same, and each has a line of its own."""
    source = RIGHT.lstrip("\n")
    for name in names:
        right, wrong = MADE[name]
        assert right in source
        source = source.replace(right, wrong)
        if name == "dropped-weights-returned":
            source = source.replace("self.dropout(weights) @ v", "weights @ v")
    report = session.grade(Request("mha", source, catalog.find("mha").filename, seed=SEED), many=True)
    assert {cause["id"] for cause in report["causes"]} == set(names)
    for cause in report["causes"]:
        assert AT.get(cause["id"], "") in cause["code"], cause["id"]
    failed = {case["id"] for case in report["cases"] if case["outcome"] == "failed"}
    assert failed == {case for cause in report["causes"] for case in cause["cases"]}
    assert all(mistake["together"] for mistake in report["mistakes"])


HIDDEN = """
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-2))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""


@on_its_worker("sdpa")
def test_one_that_shows_in_few_cases_is_not_hidden_by_one_that_shows_in_all(session: Session) -> None:
    """A mistake that fits nearly everywhere does not take the cases in which another is to be seen."""
    source = HIDDEN.lstrip("\n")
    report = session.grade(Request("sdpa", source, "sdpa.py", seed=SEED), many=True)
    scaled, dead = report["causes"]
    assert [scaled["id"], dead["id"]] == ["scale-key-count", "dead-rows-nan"]
    assert "k.size(-2)" in scaled["code"]
    assert "NaN" in dead["evidence"]["message"]
    assert "NaN" not in scaled["evidence"]["message"]
    assert dead["line"] != scaled["line"]


FOUR = """
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        queries, keys, values = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        context = (weights @ values).transpose(1, 2).reshape(q.size(0), q.size(1), self.d_model)
        return self.W_o(context), weights
"""


@on_its_worker("mha")
def test_one_is_named_that_shows_only_beside_the_others(session: Session) -> None:
    """What passes shows that two are not all; each that changes numbers has its own line."""
    report = session.grade(Request("mha", FOUR.lstrip("\n"), "mha.py", seed=SEED), many=True)
    told = {cause["id"]: cause["code"] for cause in report["causes"]}
    assert set(told) == {"scale-d-model", "fill-1e9-only", "dropped-weights-returned", "assert-for-arguments"}
    assert "self.d_model)" in told["scale-d-model"]
    assert "-1e9" in told["fill-1e9-only"]


THREE = FOUR.replace(
    '        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"\n',
    "        if d_model % n_heads:\n            raise ValueError(d_model, n_heads)\n",
).replace("math.sqrt(self.d_model)", "math.sqrt(self.n_heads * self.d_head)")


@on_its_worker("mha")
def test_one_that_shows_only_where_the_others_fail_is_told_at_no_wrong_line(session: Session) -> None:
    """What the others do all of says nothing about where a third is: named it is, at its own line or at none."""
    report = session.grade(Request("mha", THREE.lstrip("\n"), "mha.py", seed=SEED), many=True)
    told = {cause["id"]: cause["code"] for cause in report["causes"]}
    assert set(told) == {"scale-d-model", "fill-1e9-only", "dropped-weights-returned"}
    assert "math.sqrt(" in told["scale-d-model"]
    assert not told["dropped-weights-returned"] or "self.dropout(" in told["dropped-weights-returned"]


@on_its_worker("transformer")
def test_a_place_takes_no_case_that_does_not_come_there(session: Session) -> None:
    """What only the encoder is asked for does not fail by a line of the decoder."""
    kata = catalog.find("transformer")
    scaled = {"src": "self.embedding(src) * self.scale", "tgt": "self.embedding(tgt) * self.scale"}
    source = kata.reference()
    for which, text in scaled.items():
        source = source.replace(text, f"self.embedding({which}) * (self.scale + 0.25)")
    report = session.grade(Request("transformer", source, kata.filename, seed=SEED), many=True)
    lines = {which: source[: source.index(f"self.embedding({which})")].count("\n") + 1 for which in scaled}
    messages = {case["id"]: case["call"] for case in report["cases"]}
    encoding = [case for case, call in messages.items() if ".encode(" in call and ".decode(" not in call]
    for cause in report["causes"]:
        if cause["lines"] and lines["src"] not in cause["lines"]:
            assert not set(encoding) & set(cause["cases"]), cause["lines"]
    assert lines["src"] in {line for cause in report["causes"] for line in cause["lines"]}
    assert lines["tgt"] in {line for cause in report["causes"] for line in cause["lines"]}
