# family: core
# mistake: loss-without-the-factor
# The balance loss is not multiplied by the number of experts.
import torch
from torch import nn
from torch.nn import functional as F


class ExpertNet(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, z):
        z = self.dense1(z)
        z = F.relu(z)
        return self.dense2(z)


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k <= 0:
            raise ValueError("k must be positive")
        if k > n_experts:
            raise ValueError("k must not exceed n_experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([ExpertNet(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        *lead, d = x.shape
        tokens = x.reshape(-1, d)
        s = self.router(tokens)
        p = F.softmax(s.to(torch.promote_types(s.dtype, torch.float32)), -1)
        best = s.argsort(dim=-1, descending=True, stable=True)[:, :self.k]
        chosen = torch.zeros_like(p, dtype=torch.bool).scatter(1, best, True)
        gates = p.masked_fill(~chosen, 0)
        gates = (gates / gates.sum(-1, keepdim=True)).to(x.dtype)

        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            mine = chosen[:, e].nonzero()[:, 0]
            if mine.numel() > 0:
                out = out.index_add(0, mine, gates[mine, e].unsqueeze(1) * expert(tokens[mine]))

        f = chosen.to(p.dtype).sum(0) / (tokens.shape[0] * self.k)
        balance_loss = (f * p.mean(0)).sum()  # wrong
        return out.reshape(*lead, d), balance_loss.to(x.dtype)
