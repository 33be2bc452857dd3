import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.dense2(self.act(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    """Each token has k slots, which the experts fill."""

    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k < 1 or k > n_experts:
            raise ValueError("k experts must be there")
        self.n_experts, self.k = n_experts, k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([FeedForward(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        d = x.shape[-1]
        flat = x.reshape(-1, d)
        logits = self.router(flat)
        order = torch.argsort(logits, dim=-1, descending=True, stable=True)[:, : self.k]
        gates = torch.softmax(logits.gather(-1, order), dim=-1)
        slots = flat.new_zeros(flat.shape[0], self.k, d)
        for e in range(self.n_experts):
            token, slot = (order == e).nonzero(as_tuple=True)
            slots[token, slot] = self.experts[e](flat[token])
        out = (gates.unsqueeze(-1) * slots).sum(1)
        p = logits.softmax(-1).mean(0)
        f = torch.stack([(order == e).sum() for e in range(self.n_experts)]).to(p.dtype) / order.numel()
        return out.reshape(x.shape), self.n_experts * torch.dot(f, p)
