from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Routed = namedtuple("Routed", "output balance_loss")


class MixtureOfExperts(nn.Module):
    """Reads the experts' weights without calling them; returns a named tuple."""

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if not 0 < k <= n_experts:
            raise ValueError(f"{k} of {n_experts} experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.ModuleDict({"dense1": nn.Linear(d_model, d_ff), "dense2": nn.Linear(d_ff, d_model)})
            for _ in range(n_experts)
        )

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        scores = tokens @ self.router.weight.t()
        log_p = F.log_softmax(scores, dim=-1)
        chosen = (-scores).sort(stable=True).indices[..., : self.k]
        top = torch.take_along_dim(log_p, chosen, -1)
        weights = torch.exp(top - torch.logsumexp(top, -1, keepdim=True))
        output = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            t, c = torch.nonzero(chosen == e, as_tuple=True)
            h = F.relu(F.linear(tokens.index_select(0, t), expert["dense1"].weight, expert["dense1"].bias))
            y = F.linear(h, expert["dense2"].weight, expert["dense2"].bias) * weights[t, c][:, None]
            output = torch.index_put(output, (t,), y, accumulate=True)
        counts = (chosen.reshape(-1, 1) == torch.arange(len(self.experts), device=x.device)).to(scores.dtype)
        return Routed(output.view_as(x), (counts.mean(0) * log_p.exp().mean(0)).sum() * len(self.experts))
