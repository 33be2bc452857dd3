# family: cost
# mistake: none
"""All experts on all tokens, weighed with gates that are mostly 0."""

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError("k")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        logits = self.router(x)
        p = logits.softmax(-1)
        chosen = logits.argsort(-1, descending=True, stable=True)[..., : self.k]
        mask = torch.zeros_like(p).scatter(-1, chosen, 1.0)
        gates = p * mask
        gates = gates / gates.sum(-1, keepdim=True)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-2)
        axes = tuple(range(x.dim() - 1))
        f = (mask.mean(axes) if axes else mask) / self.k
        P = p.mean(axes) if axes else p
        return (gates.unsqueeze(-1) * outputs).sum(-2), len(self.experts) * (f * P).sum()
