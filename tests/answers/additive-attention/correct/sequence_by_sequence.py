import torch
from torch import nn


class Scorer(nn.Module):
    def forward(self, q, k, w_v):
        pairs = torch.stack([k + row for row in q])
        return torch.tanh(pairs) @ w_v.weight.squeeze(0)


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        for name, shape in {"W_q": (query_size, num_hiddens), "W_k": (key_size, num_hiddens), "w_v": (num_hiddens, 1)}.items():
            setattr(self, name, nn.Linear(*shape, bias=False))
        self.scorer = Scorer()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        outputs, all_weights = [], []
        for b in range(queries.size(0)):
            scores = self.scorer(self.W_q(queries[b]), self.W_k(keys[b]), self.w_v)
            if mask is not None:
                own = mask if mask.dim() == 2 else mask[b if mask.size(0) > 1 else 0]
                bias = torch.zeros(own.shape, dtype=scores.dtype, device=scores.device).masked_fill(~own, -torch.inf)
                scores = scores.masked_fill(~own, 0.0) + bias
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights.masked_fill(~own, 0.0)
            all_weights.append(weights)
            outputs.append(self.dropout(weights) @ values[b])
        return torch.stack(outputs), torch.stack(all_weights)
