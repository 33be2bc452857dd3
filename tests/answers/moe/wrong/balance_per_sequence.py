# family: core
# mistake: none
"""Takes the balance of each sequence by itself and averages it over the batch."""

import torch
from torch import nn
from torch.nn import functional as F


class Expert(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError("k")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x):
        E = len(self.experts)
        probs = self.router(x).softmax(-1)
        ids = self.router(x).argsort(-1, descending=True, stable=True)[..., : self.k]
        w = probs.gather(-1, ids)
        w = w / w.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            chose = (ids == e).any(-1)
            out[chose] += expert(x[chose]) * w[ids == e][:, None]
        f = F.one_hot(ids, E).to(x.dtype).mean((-3, -2)) if x.dim() > 1 else F.one_hot(ids, E).to(x.dtype).mean(0)
        p = probs.mean(-2) if x.dim() > 1 else probs
        return out, E * (f * p).sum(-1).mean()
