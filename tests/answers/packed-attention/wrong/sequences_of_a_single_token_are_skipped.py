# family: core
# mistake: single-tokens-left-out
# Sequences of a single token are skipped like empty ones, so that their output is 0 and not their value.
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Span:
    first: int
    behind: int

    @property
    def length(self) -> int:
        return self.behind - self.first

    def of(self, x: Tensor) -> Tensor:
        return x[self.first : self.behind].permute(1, 0, 2)


def spans(cu_seqlens: Sequence[int]) -> list[Span]:
    found = []
    for b in range(len(cu_seqlens) - 1):
        span = Span(cu_seqlens[b], cu_seqlens[b + 1])
        if span.length > 1:  # wrong
            found.append(span)
    return found


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Sequence[int], causal: bool = False) -> Tensor:
    d_k = q.shape[-1]
    output = torch.zeros_like(v)
    for span in spans(cu_seqlens):
        scores = torch.matmul(span.of(q), span.of(k).transpose(1, 2)) / d_k**0.5
        if causal:
            visible = torch.ones(span.length, span.length, dtype=torch.bool, device=q.device).tril()
            scores = scores.masked_fill(~visible, float("-inf"))
        context = torch.matmul(scores.softmax(dim=-1), span.of(v))
        output[span.first : span.behind] = context.permute(1, 0, 2)
    return output
