"""Answers as the tutorials write them, with several of their usual mistakes at once, are told as a person would."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from grader import catalog
from grader.client.session import Request, Session

SEED = 2017

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

EXPECTED = {
    "as_it_is": Told(
        "mha", AS_IT_IS, ("mask-over-heads", "fill-1e9-only", "assert-for-arguments"), ("masked_fill", "assert")
    ),
    "annotated": Told("mha", ANNOTATED, ("fill-1e9-only", "assert-for-arguments"), ("-1e9",)),
    "dive": Told("valid-lens", DIVE, ("scores-overwritten",), ("X[~mask] = -1e6",)),
    "additive": Told("sdpa", ADDITIVE, ("only-output",), ("return output",)),
    "afterwards": Told(
        "mha", AFTERWARDS, ("mask-after-softmax", "assert-for-arguments"), ("torch.softmax(scores, dim=-1)",)
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
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
