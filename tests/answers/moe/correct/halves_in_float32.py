import torch
from torch import nn


class _Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.dense1 = nn.Linear(width, hidden)
        self.dense2 = nn.Linear(hidden, width)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    """Weights and sums are float32 at least."""

    def __init__(self, d_model, d_ff, n_experts, k):
        if k > n_experts or k < 1:
            raise ValueError("choose between one expert and all of them")
        super().__init__()
        self.k, self.E = k, n_experts
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([_Expert(d_model, d_ff) for _ in range(n_experts)])

    def route(self, tokens):
        exact = torch.promote_types(tokens.dtype, torch.float32)
        scores = self.router(tokens)
        probs = torch.softmax(scores, dim=-1, dtype=exact)
        chosen = scores.argsort(dim=-1, descending=True, stable=True).narrow(-1, 0, self.k)
        weights = probs.gather(-1, chosen)
        return probs, chosen, weights / weights.sum(-1, True)

    def forward(self, x):
        tokens = x.contiguous().view(-1, x.size(-1))
        probs, chosen, weights = self.route(tokens)
        parts = torch.zeros(tokens.shape, dtype=probs.dtype, device=x.device)
        for e in range(self.E):
            here = chosen == e
            rows = here.any(dim=-1)
            parts[rows] = parts[rows] + weights[here][:, None] * self.experts[e](tokens[rows])
        f = torch.stack([(chosen == e).to(probs.dtype).mean() for e in range(self.E)])
        balance = self.E * (f * probs.mean(0)).sum()
        return parts.to(x.dtype).reshape(x.size()), balance.to(x.dtype)
