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
    """Gates for all experts, most of them 0; an expert takes the rows where it has been chosen, if there are any."""

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k not in range(1, n_experts + 1):
            raise ValueError(k)
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(Expert(d_model, d_ff))

    def forward(self, x):
        lead = x.shape[:-1]
        x = x.flatten(0, -2) if x.dim() > 1 else x[None]
        scores = self.router(x)
        p = F.softmax(scores, dim=-1)
        # one choice after the other: argmax takes the first of equal ones
        mask = torch.zeros_like(p, dtype=torch.bool)
        left = scores.detach()
        for _ in range(self.k):
            best = left.argmax(-1, keepdim=True)
            mask = mask.scatter(-1, best, True)
            left = left.scatter(-1, best, float("-inf"))
        gates = p.masked_fill(~mask, 0)
        gates = gates / gates.sum(-1, keepdim=True)
        y = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = mask[:, e].nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            y = y.index_add(0, rows, expert(x[rows]) * gates[rows, e, None])
        f = mask.to(p.dtype).mean(0) / self.k
        loss = (f * p.mean(0)).sum() * len(self.experts)
        return y.reshape(*lead, -1), loss
