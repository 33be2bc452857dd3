# family: core
# mistake: none
# Padded tokens are put to 0 in the cache that is returned, where they have to stay as they are.
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Past:
    keys: Tensor
    values: Tensor

    def extended(self, keys: Tensor, values: Tensor) -> Past:
        return Past(torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2))

    def cleaned(self, padding_mask: Tensor) -> Past:
        padded = ~padding_mask[:, None, :, None]
        return Past(self.keys.masked_fill(padded, 0.0), self.values.masked_fill(padded, 0.0))


def visible_keys(n: int, total: int, padding_mask: Tensor | None, device: torch.device) -> Tensor:
    keys = torch.arange(total, device=device)
    queries = torch.arange(total - n, total, device=device)
    causal = keys[None, :] <= queries[:, None]
    return causal if padding_mask is None else causal & padding_mask[:, None, None, :]


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads does not divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[1], self.n_heads, -1).transpose(1, 2)

    def forward(
        self, x: Tensor, cache: tuple[Tensor, Tensor] | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        past = Past(k, v) if cache is None else Past(*cache).extended(k, v)
        if padding_mask is not None:
            past = past.cleaned(padding_mask)  # wrong
        hidden = ~visible_keys(x.shape[1], past.keys.shape[2], padding_mask, x.device)
        scores = q @ past.keys.transpose(-2, -1) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1).masked_fill(hidden, 0.0)
        context = (weights @ past.values).transpose(1, 2).reshape(x.shape)
        return self.W_o(context), (past.keys, past.values)
