# family: core
# mistake: none
# A padded token does not only hide its key, it may not ask either, so its output is the bias of W_o.
import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    @staticmethod
    def _mask(n: int, total: int, padding_mask: Tensor | None, device: torch.device) -> Tensor:
        mask = torch.ones(n, total, dtype=torch.bool, device=device).tril(total - n)
        mask = mask[None, None]
        if padding_mask is not None:
            mask = mask & padding_mask[:, None, None, :]
            mask = mask & padding_mask[:, None, total - n :, None]  # wrong
        return mask

    def forward(
        self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        q, k, v = self._split(self.W_q(x)), self._split(self.W_k(x)), self._split(self.W_v(x))
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        mask = self._mask(q.shape[2], k.shape[2], padding_mask, x.device)
        scores = (q / math.sqrt(self.d_head)) @ k.transpose(-2, -1)
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~mask, -math.inf).masked_fill(blind, 0.0).softmax(dim=-1)
        context = weights.masked_fill(~mask, 0.0) @ v
        return self.W_o(context.transpose(1, 2).flatten(2)), (k, v)
