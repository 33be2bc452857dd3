# family: core
# mistake: aligned-top-left
# Where causal, the queries are taken for the first n of the m positions, not for the last n.
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Running(NamedTuple):
    """What a query needs of all keys so far."""

    top: Tensor
    total: Tensor
    value: Tensor

    @classmethod
    def start(cls, q: Tensor, d_v: int) -> Running:
        one = q.new_zeros(*q.shape[:-1], 1)
        return cls(torch.full_like(one, -torch.inf), one, q.new_zeros(*q.shape[:-1], d_v))

    def see(self, scores: Tensor, v: Tensor) -> Running:
        top = torch.maximum(self.top, scores.detach().max(dim=-1, keepdim=True).values)
        old, new = (self.top - top).exp(), (scores - top).exp()
        return Running(top, self.total * old + new.sum(-1, keepdim=True), self.value * old + new @ v)

    def result(self) -> Tensor:
        return self.value / self.total


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    wide = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    queries = q.to(wide) * q.shape[-1] ** -0.5
    state = Running.start(queries, v.shape[-1])
    where_queries_are = torch.arange(q.shape[2], device=q.device)  # wrong
    first = 0
    for keys, values in zip(k.split(block_size, dim=2), v.split(block_size, dim=2)):
        scores = torch.einsum("bhnd,bhmd->bhnm", queries, keys.to(wide))
        if causal:
            where_keys_are = torch.arange(first, first + keys.shape[2], device=q.device)
            scores = scores.masked_fill(where_keys_are[None] > where_queries_are[:, None], -torch.inf)
        state = state.see(scores, values.to(wide))
        first += keys.shape[2]
    return state.result().to(q.dtype)
