import torch
from torch import nn


class AdditiveAttention(nn.Module):
    """Write the pairs out with repeat, score them as one long batch, softmax by hand, dropout by hand."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.rate = dropout

    def drop(self, weights):
        if not self.training or self.rate == 0.0:
            return weights
        if self.rate == 1.0:
            return weights * 0
        return weights * torch.bernoulli(torch.full_like(weights, 1 - self.rate)) / (1 - self.rate)

    def forward(self, queries, keys, values, mask=None):
        B, n, _ = queries.shape
        m = keys.shape[1]
        q = self.W_q(queries).repeat_interleave(m, dim=1)
        k = self.W_k(keys).repeat(1, n, 1)
        scores = self.w_v((q + k).tanh().flatten(0, 1)).reshape(B, n, m)
        keep = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(B, n, m)
        top = scores.masked_fill(~keep, float("-inf")).amax(-1, keepdim=True).detach().clamp(min=torch.finfo(scores.dtype).min)
        e = (scores - top).masked_fill(~keep, 0).exp() * keep
        total = e.sum(-1, keepdim=True)
        weights = e / torch.where(total > 0, total, torch.ones_like(total))
        return self.drop(weights).bmm(values), weights
