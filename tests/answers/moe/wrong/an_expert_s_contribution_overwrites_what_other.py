# family: core
# mistake: overwritten-by-the-next-expert
# An expert's contribution overwrites what other experts wrote for the same token instead of being added.
import torch
from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError("k must be from 1 to n_experts")
        self.n_experts, self.k = n_experts, k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.shape[-1])  # (T, d_model)
        T = tokens.shape[0]
        scores = self.router(tokens)
        p = scores.softmax(dim=-1)
        chosen = scores.sort(dim=-1, descending=True, stable=True).indices[:, : self.k]
        weights = p.gather(1, chosen)
        weights = weights / weights.sum(dim=-1, keepdim=True)

        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            row, place = torch.where(chosen == e)
            if row.numel() == 0:
                continue
            out[row] = weights[row, place].unsqueeze(-1) * expert(tokens[row])  # wrong

        counts = torch.bincount(chosen.flatten(), minlength=self.n_experts)
        f = (counts.float() / (T * self.k)).to(p.dtype)
        balance = self.n_experts * (f * p.mean(dim=0)).sum()
        return out.reshape(x.shape), balance
