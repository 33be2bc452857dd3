"""Answers as the tutorials write them, with several of their usual mistakes at once, are told as a person would."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, of_kata, on_its_worker

ANNOTATED = """
import math
import torch
from torch import nn

def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        context = torch.matmul(dropout(p_attn), value)
    else:
        context = torch.matmul(p_attn, value)
    return context, p_attn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        assert d_model % n_heads == 0
        self.d_k = d_model // n_heads
        self.h = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, q, k, v, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        nbatches = q.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.W_q, self.W_k, self.W_v), (q, k, v))
        ]
        x, attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.W_o(x), attn
"""

DIVE = """
import torch
from torch import nn

def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return nn.functional.softmax(scores, dim=-1)
    shape = scores.shape
    if valid_lens.dim() == 1:
        valid_lens = torch.repeat_interleave(valid_lens, shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = scores.reshape(-1, shape[-1])
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_lens[:, None]
    X[~mask] = -1e6
    return nn.functional.softmax(X.reshape(shape), dim=-1)
"""

ADDITIVE = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    matmul_qk = torch.matmul(q, k.transpose(-1, -2))
    dk = torch.tensor(k.shape[-1], dtype=torch.float32)
    logits = matmul_qk / torch.sqrt(dk)
    if mask is not None:
        logits += (1 - mask.float()) * -1e9
    weights = torch.softmax(logits, dim=-1)
    output = torch.matmul(weights, v)
    return output
"""

AFTERWARDS = """
import torch
import math
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            weights = weights.masked_fill(~mask, 1e-9)
        context = self.dropout(weights) @ v
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
"""


MINIMAL_GPT = """
import math
import torch
import torch.nn as nn
from torch.nn import functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        assert d_model % n_heads == 0
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.attn_drop = nn.Dropout(dropout)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.n_head = n_heads

    def forward(self, q, k, v, mask=None):
        B, T, C = q.size()
        S = k.size(1)
        k = self.W_k(k).view(B, S, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.W_q(q).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(v).view(B, S, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_drop(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y), att
"""

DIVE_ADDITIVE = """
import torch
from torch import nn

def sequence_mask(X, mask, value=0):
    X = X.clone()
    X[~mask.expand_as(X)] = value
    return X

class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = queries.unsqueeze(2) + keys.unsqueeze(1)
        features = torch.tanh(features)
        scores = self.w_v(features).squeeze(-1)
        if mask is not None:
            scores = sequence_mask(scores, mask, value=-1e6)
        self.attention_weights = nn.functional.softmax(scores, dim=-1)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""

HIDES_WHERE_TRUE = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    matmul_qk = torch.einsum("...nd,...md->...nm", q, k)
    dk = float(k.shape[-1])
    scaled_attention_logits = matmul_qk / dk**0.5
    if mask is not None:
        scaled_attention_logits = scaled_attention_logits + mask * -1e9
    attention_weights = torch.softmax(scaled_attention_logits, -1)
    output = torch.einsum("...nm,...md->...nd", attention_weights, v)
    return output, attention_weights
"""


class Told(NamedTuple):
    """What a person expects to be told: a mistake by its id, or a line by a text in it."""

    kata: str
    source: str
    names: tuple[str, ...]
    lines: tuple[str, ...]


AS_IT_IS = ANNOTATED.replace(
    "        if mask is not None and mask.dim() == 3:\n            mask = mask.unsqueeze(1)\n", ""
)
"""The mask goes to the heads as it came: each mistake shows by itself in some cases, all three together in others."""

AS_COPIED = (
    ANNOTATED.replace("dropout=0.0", "dropout=0.1")
    .replace("        if mask is not None and mask.dim() == 3:\n", "        if mask is not None:\n")
    .replace("    if dropout is not None:\n", "    if dropout is not None:\n        p_attn = dropout(p_attn)\n")
    .replace("        context = torch.matmul(dropout(p_attn), value)\n    else:\n    ", "")
    .replace("d_model, bias=bias)", "d_model)")
)
"""With its own default for dropout and without the choice of a bias: neither hides the names of the other four."""

EXPECTED = {
    "as_copied": Told(
        "mha",
        AS_COPIED,
        ("fill-1e9-only", "mask-always-unsqueezed", "dropped-weights-returned", "assert-for-arguments"),
        ("-1e9", "mask.unsqueeze(1)", "dropout=0.1", "assert", "self.W_q = nn.Linear(d_model, d_model)"),
    ),
    "as_it_is": Told(
        "mha", AS_IT_IS, ("mask-over-heads", "fill-1e9-only", "assert-for-arguments"), ("masked_fill", "assert")
    ),
    "annotated": Told("mha", ANNOTATED, ("fill-1e9-only", "assert-for-arguments"), ("-1e9",)),
    "dive": Told("valid-lens", DIVE, ("scores-overwritten",), ("X[~mask] = -1e6",)),
    "additive": Told("sdpa", ADDITIVE, ("only-output", "fill-1e9-only"), ("return output",)),
    "afterwards": Told(
        "mha", AFTERWARDS, ("mask-after-softmax", "assert-for-arguments"), ("weights.masked_fill(~mask, 1e-9)",)
    ),
    "minimal_gpt": Told(
        "mha",
        MINIMAL_GPT,
        ("mask-over-heads", "dropped-weights-returned", "dead-rows-nan", "assert-for-arguments"),
        ("mask == 0", "self.attn_drop(att)", "F.softmax", "assert"),
    ),
    "dive_additive": Told(
        "additive-attention",
        DIVE_ADDITIVE,
        ("only-output", "dead-rows-uniform"),  # -1e6 in all places is a mean
        ("return torch.bmm", "X[~mask"),
    ),
    "hides_where_true": Told("sdpa", HIDES_WHERE_TRUE, ("mask-inverted",), ("mask * -1e9",)),
}


@pytest.mark.parametrize("name", [of_kata(told.kata, name, name=name) for name, told in EXPECTED.items()])
def test_what_a_person_expects(session: Session, name: str) -> None:
    """Each mistake is named by itself or has its line, and none is named that is not there."""
    told = EXPECTED[name]
    source = told.source.lstrip("\n")
    report = session.grade(Request(told.kata, source, catalog.find(told.kata).filename, seed=SEED), many=True)
    causes = report["causes"]
    named = {cause["id"] for cause in causes} - {"located", "seen"}
    assert named == set(told.names)
    lines = {line for cause in causes for line in cause["lines"]}
    for text in told.lines:
        assert any(text in line for number, line in enumerate(source.splitlines(), 1) if number in lines), text


@pytest.mark.grades
def test_a_first_grading_tells_the_same() -> None:
    """Nothing was prepared for it, and more is derived: four names at once are found all the same."""
    told = EXPECTED["as_copied"]
    with Session() as own:
        report = own.grade(Request(told.kata, told.source.lstrip("\n"), "mha.py", seed=SEED))
    assert {cause["id"] for cause in report["causes"]} - {"located", "seen"} == set(told.names)


FLOAT_SOFTMAX = """
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores.float(), dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights.to(v.dtype) @ v, weights
"""

BARE_EXPONENTIALS = """
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = torch.exp(scores)
    if mask is not None:
        weights = weights * mask
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ v, weights
"""

MEAN_FOR_NOTHING = """
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -3.4e38)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""

NAMED_FALSELY = {
    "float_softmax": (FLOAT_SOFTMAX, ("scale-in-a-vector", "fill-1e4", "dead-rows-nan"), "scores.float()"),
    "bare_exponentials": (BARE_EXPONENTIALS, ("fill-1e4", "fill-1e4-only", "scale-in-a-vector"), "torch.exp(scores)"),
    "mean_for_nothing": (MEAN_FOR_NOTHING, ("dead-rows-nan", "nan-rows", "output-cleaned-only"), "-3.4e38"),
}


@on_its_worker("sdpa")
@pytest.mark.parametrize("name", NAMED_FALSELY)
def test_what_is_not_true_is_not_said(session: Session, name: str) -> None:
    """Mistakes that were named once for answers that do not make them."""
    source, untrue, marked = NAMED_FALSELY[name]
    source = source.lstrip("\n")
    report = session.grade(Request("sdpa", source, "sdpa.py", seed=SEED), many=True)
    causes = report["causes"]
    assert not {cause["id"] for cause in causes} & set(untrue)
    told = " ".join(f"{cause['title']} {cause['explain']}" for cause in causes)
    shown = " ".join(cause["evidence"]["message"] for cause in causes)
    assert "NaN" not in told or "NaN" in shown
    lines = {line for cause in causes for line in cause["lines"]}
    assert any(marked in line for number, line in enumerate(source.splitlines(), 1) if number in lines)
