# family: core
# mistake: overwritten-by-the-next-expert
# An expert overwrites what earlier experts wrote for a token, instead of adding to it.
import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        if k < 1 or n_experts < k:
            raise ValueError("1 <= k <= n_experts")
        self.n_experts, self.k = n_experts, k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(Mlp(d_model, d_ff))

    def forward(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        n_tokens = x.shape[0]
        scores = self.router(x)
        probs = torch.softmax(scores.float() if x.dtype != torch.float64 else scores, dim=-1)
        ranked = torch.sort(scores, dim=-1, descending=True, stable=True)[1]
        selected = ranked[:, :self.k]
        selected_probs = torch.gather(probs, 1, selected)
        selected_probs = selected_probs / selected_probs.sum(dim=1, keepdim=True)

        output = torch.zeros_like(x)
        for e in range(self.n_experts):
            hit = selected == e
            tokens = hit.any(dim=1).nonzero().squeeze(1)
            if tokens.numel() == 0:
                continue
            weight = (selected_probs * hit).sum(dim=1)[tokens].to(x.dtype)
            output[tokens] = weight[:, None] * self.experts[e](x[tokens])  # wrong

        f = torch.stack([(selected == e).sum() for e in range(self.n_experts)]).to(probs.dtype)
        f = f / (n_tokens * self.k)
        loss = self.n_experts * (f * probs.mean(dim=0)).sum()
        return output.reshape(shape), loss.to(x.dtype)
