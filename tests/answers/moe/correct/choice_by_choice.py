import torch
from torch import nn


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = self.dense1(x)
        return self.dense2(h * (h > 0))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if not (1 <= k and k <= n_experts):
            raise ValueError("k")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([FFN(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        shape, E = x.shape, len(self.experts)
        x = x.reshape(-1, shape[-1])
        logits = self.router(x)
        probs = logits.softmax(-1)
        ids = logits.sort(dim=-1, descending=True, stable=True)[1]
        total = sum(probs.gather(1, ids[:, c : c + 1]) for c in range(self.k))
        output, counts = torch.zeros_like(x), torch.zeros_like(probs[0])
        for c in range(self.k):
            weight = probs.gather(1, ids[:, c : c + 1]) / total
            for e, expert in enumerate(self.experts):
                rows = torch.where(ids[:, c] == e)[0]
                output = output.index_add(0, rows, weight[rows] * expert(x[rows]))
                counts[e] += (ids[:, c] == e).sum()
        return output.view(shape), E * ((counts / (len(x) * self.k)) * probs.mean(0)).sum()
