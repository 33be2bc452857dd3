from typing import NamedTuple

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class AdditiveAttention(nn.Module):
    """One query at a time, as a decoder would ask: little memory."""

    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def scores_of(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.w_v(torch.tanh(query[:, None] + keys))[..., 0]

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Attended:
        projected = self.W_k(keys)
        rows = [self.scores_of(query, projected) for query in self.W_q(queries).unbind(1)]
        scores = torch.stack(rows, dim=1)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            mask = mask.expand_as(scores)
            empty = ~mask.any(-1, keepdim=True)
            weights = scores.masked_fill(~(mask | empty), -torch.inf).softmax(-1).masked_fill(empty, 0.0)
        return Attended(torch.matmul(self.dropout(weights), values), weights)
