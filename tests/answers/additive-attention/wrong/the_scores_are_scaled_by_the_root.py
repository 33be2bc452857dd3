# family: core
# mistake: scaled
# The scores are scaled by the root of num_hiddens, additive attention has no scale.
import math
import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_hiddens = num_hiddens
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.drop = nn.Dropout(dropout)

    def _score(self, queries: Tensor, keys: Tensor) -> Tensor:
        hq = self.W_q(queries)
        hk = self.W_k(keys)
        hidden = torch.tanh(hq[:, :, None, :] + hk[:, None, :, :])
        s = torch.einsum("bnmh,h->bnm", hidden, self.w_v.weight[0])
        return s / math.sqrt(self.num_hiddens)  # wrong

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None):
        scores = self._score(queries, keys)
        if mask is None:
            mask = torch.ones(1, 1, 1, dtype=torch.bool, device=scores.device)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
        output = torch.einsum("bnm,bmv->bnv", self.drop(weights), values)
        return output, weights
