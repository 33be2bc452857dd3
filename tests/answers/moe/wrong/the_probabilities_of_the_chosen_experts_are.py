# family: core
# mistake: not-renormalised
# The probabilities of the chosen experts are not divided by their sum.
import torch
import torch.nn as nn
from torch import Tensor


def make_expert(d_model: int, d_ff: int) -> nn.Module:
    expert = nn.Module()
    expert.dense1 = nn.Linear(d_model, d_ff)
    expert.dense2 = nn.Linear(d_ff, d_model)
    return expert


def run_expert(expert: nn.Module, x: Tensor) -> Tensor:
    return expert.dense2(expert.dense1(x).relu())


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if k < 1 or k > n_experts:
            raise ValueError("1 <= k <= n_experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(make_expert(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        flat = x.reshape(-1, x.size(-1))
        T, E = flat.size(0), len(self.experts)
        wide = torch.promote_types(x.dtype, torch.float32)
        logits = self.router(flat)
        p = logits.to(wide).softmax(-1)
        idx = logits.argsort(dim=-1, descending=True, stable=True)[:, : self.k]
        gate = p.gather(1, idx)  # wrong
        gate = gate.to(x.dtype)
        out = torch.zeros_like(flat)
        for e in range(E):
            rows, places = (idx == e).nonzero(as_tuple=True)
            if len(rows):
                y = run_expert(self.experts[e], flat[rows])
                out = out.index_add(0, rows, gate[rows, places, None] * y)
        f = torch.bincount(idx.flatten(), minlength=E).to(wide) / (T * self.k)
        loss = E * torch.dot(f, p.mean(0))
        return out.view(x.shape), loss.to(x.dtype)
