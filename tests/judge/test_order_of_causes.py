"""Which of several causes comes first, and what two of them have in common is told once."""

from __future__ import annotations

from grader.client.session import Session
from tests.gradings import on_its_worker
from tests.judge.test_causes import line_of, why

LEFT_TO_PYTORCH = """
import math
import torch
from torch import nn
import torch.nn.functional as F


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, _ = x.shape
        q, k, v = (w(x).view(B, n, self.h, self.d).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        T = k.size(2)
        mask = torch.tril(torch.ones(n, T)).bool()
        if padding_mask is not None:
            mask = mask & padding_mask[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, n, -1)), (k, v)
"""
"""It calls what is out of bounds, hides the wrong keys behind a cache and makes the mask on the CPU."""

FIVE_AT_ONCE = """
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.h = n_heads
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        q = self.W_q(q).reshape(B, self.h, -1, self.d)
        k = self.W_k(k).reshape(B, self.h, -1, self.d)
        v = self.W_v(v).reshape(B, self.h, -1, self.d)
        s = q @ k.transpose(-1, -2) / math.sqrt(self.h * self.d)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        w = self.drop(s.softmax(-1))
        out = (w @ v).transpose(1, 2).reshape(B, -1, self.h * self.d)
        return self.W_o(out), w
"""
"""Heads split by a reshape, the scale of all heads, masks left to broadcasting, dropped weights, sizes unchecked."""


@on_its_worker("kv-cache")
def test_what_is_out_of_bounds_is_told_once(session: Session) -> None:
    """All cases that end at a forbidden call belong to its name, whatever else is wrong in them."""
    causes = why(session, "kv-cache", LEFT_TO_PYTORCH)
    assert causes[0]["id"] == "calls-torch-attention"
    assert not any("out of bounds" in cause["evidence"]["message"] for cause in causes[1:])


@on_its_worker("mha")
def test_a_name_for_few_cases_comes_after_the_place_of_most(session: Session) -> None:
    """The heads are split wrongly in hundreds of cases; sizes that are let through make three fail."""
    causes = why(session, "mha", FIVE_AT_ONCE)
    first, named = causes[0], next(cause for cause in causes if cause["id"] == "no-divisibility-check")
    assert line_of(FIVE_AT_ONCE, "q = self.W_q(q)") in first["lines"]
    assert len(first["cases"]) > 10 * len(named["cases"])
