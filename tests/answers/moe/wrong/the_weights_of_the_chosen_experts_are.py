# family: core
# mistake: not-renormalised
# The weights of the chosen experts are not divided by their sum.
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
            raise ValueError("k must be from 1 to n_experts")
        self.k = k
        self.n_experts = n_experts
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        scores = self.router(flat)
        acc = torch.promote_types(x.dtype, torch.float32)
        p = torch.softmax(scores.to(acc), dim=-1)
        chosen = scores.sort(dim=-1, descending=True, stable=True).indices[:, : self.k]
        weights = p.gather(1, chosen)  # wrong
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            tok, slot = torch.where(chosen == e)
            if tok.numel() == 0:
                continue
            y = expert(flat[tok]) * weights[tok, slot].unsqueeze(-1).to(flat.dtype)
            out = out.index_add(0, tok, y)
        f = torch.bincount(chosen.flatten(), minlength=self.n_experts).to(acc) / chosen.numel()
        balance = self.n_experts * (f * p.mean(0)).sum()
        return out.reshape(x.shape), balance.to(x.dtype)
