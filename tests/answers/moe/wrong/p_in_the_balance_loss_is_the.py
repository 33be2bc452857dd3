# family: core
# mistake: probs-of-the-chosen-only
# P in the balance loss is the mean of the normalised weights of the chosen experts, not of all probabilities.
import torch
import torch.nn.functional as F
from torch import nn


class FFN(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d_in, d_hidden), nn.Linear(d_hidden, d_in)

    def forward(self, h):
        return self.dense2(F.relu(self.dense1(h)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k < 1 or k > n_experts:
            raise ValueError(f"k={k} of {n_experts} experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([FFN(d_model, d_ff) for _ in range(n_experts)])

    def route(self, flat):
        logits = self.router(flat)
        probs = F.softmax(logits, dim=-1)
        order = torch.argsort(logits, dim=-1, descending=True, stable=True)
        picked = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, order[:, : self.k], True)
        gates = probs.masked_fill(~picked, 0.0)  # (T, E)
        return probs, picked, gates / gates.sum(-1, keepdim=True)

    def balance(self, probs, picked, gates):
        share = picked.sum(0).double() / (picked.shape[0] * self.k)
        return picked.shape[1] * (share.to(gates.dtype) @ gates.mean(0))  # wrong

    def forward(self, x):
        flat = x.flatten(0, -2) if x.dim() > 1 else x[None]
        probs, picked, gates = self.route(flat)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            who = picked[:, e].nonzero().squeeze(1)
            if len(who):
                out = out.index_add(0, who, gates[who, e, None] * expert(flat[who]))
        return out.view(x.shape), self.balance(probs, picked, gates)
