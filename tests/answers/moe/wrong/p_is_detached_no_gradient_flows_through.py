# family: grad
# mistake: loss-detached
# P is detached, no gradient flows through the balance loss.
import torch
from torch import nn


class _Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, h), nn.Linear(h, d)

    def forward(self, t):
        return self.dense2(self.dense1(t).relu())


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k not in range(1, n_experts + 1):
            raise ValueError("bad k")
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([_Expert(d_model, d_ff) for _ in range(n_experts)])
        self.k = k

    def route(self, t):
        s = self.router(t)
        s = s if s.dtype == torch.float64 else s.float()
        p = s.softmax(-1)
        _, order = s.sort(dim=-1, descending=True, stable=True)
        idx = order[:, :self.k]
        w = p.gather(-1, idx)
        return p, idx, w / w.sum(dim=-1, keepdim=True)

    def balance(self, p, idx):
        E = p.shape[1]
        counts = torch.bincount(idx.reshape(-1), minlength=E)
        f = counts.to(p.dtype) / idx.numel()
        P = p.detach().mean(dim=0)  # wrong
        return E * (f * P).sum()

    def forward(self, x):
        t = x.reshape(-1, x.shape[-1])
        p, idx, w = self.route(t)
        out = torch.zeros_like(t)
        for e, net in enumerate(self.experts):
            i, j = (idx == e).nonzero(as_tuple=True)
            if i.numel():
                out = out.index_add(0, i, net(t[i]) * w[i, j].to(t.dtype)[:, None])
        return out.reshape_as(x), self.balance(p, idx).to(x.dtype)
