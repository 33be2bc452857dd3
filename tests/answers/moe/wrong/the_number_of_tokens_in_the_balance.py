# family: core
# mistake: none
# The number of tokens in the balance loss is the size of the first axis only.
from __future__ import annotations

import torch
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    """k of n_experts small networks for each token."""

    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if k not in range(1, n_experts + 1):
            raise ValueError("k must lie between 1 and n_experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            expert = nn.Module()
            expert.dense1 = nn.Linear(d_model, d_ff)
            expert.dense2 = nn.Linear(d_ff, d_model)
            self.experts.append(expert)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        n_experts = len(self.experts)
        n_tokens = x.shape[0]  # wrong
        flat = x.reshape(-1, x.size(-1))
        logits = self.router(flat)
        p = torch.softmax(logits, dim=1)
        top = torch.sort(logits, dim=1, descending=True, stable=True)[1][:, : self.k]
        w = torch.gather(p, 1, top)
        w = w / w.sum(1, keepdim=True)

        # sort all choices by expert, so that each expert finds its tokens side by side
        choice = top.reshape(-1)
        token = torch.arange(flat.size(0), device=x.device).repeat_interleave(self.k)
        gate = w.reshape(-1)
        out = torch.zeros_like(flat)
        for e in range(n_experts):
            sel = torch.nonzero(choice == e)[:, 0]
            if sel.numel() == 0:
                continue
            net = self.experts[e]
            y = net.dense2(net.dense1(flat[token[sel]]).relu())
            out = out.index_add(0, token[sel], y * gate[sel][:, None])

        f = torch.zeros(n_experts, dtype=torch.float32, device=x.device)
        f = f.index_add(0, choice, torch.ones_like(choice, dtype=torch.float32)) / (n_tokens * self.k)
        loss = n_experts * torch.sum(f.to(p.dtype) * p.mean(0))
        return out.view_as(x), loss
