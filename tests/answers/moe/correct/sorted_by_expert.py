import torch
from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dense1(x).clamp(min=0))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if k <= 0:
            raise ValueError("k must be positive")
        if k > n_experts:
            raise ValueError("more choices than experts")
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(n_experts)])
        self.n_experts = n_experts
        self.k = k

    def dispatch(self, x: Tensor, chosen: Tensor) -> Tensor:
        """Sort the choices by expert, so that each one has a slice."""
        flat = chosen.flatten()
        order = flat.argsort(stable=True)
        counts = torch.zeros(self.n_experts, dtype=torch.int64, device=x.device).index_add(
            0, flat, torch.ones_like(flat)
        )
        batches, start = [], 0
        for expert, count in zip(self.experts, counts):
            end = start + int(count)
            batches.append(expert(x[order[start:end] // self.k]))
            start = end
        results = torch.cat(batches)
        return results[order.argsort()].unflatten(0, (-1, self.k))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.shape[-1])
        scores = self.router(tokens)
        probs = scores.softmax(dim=1)
        top, chosen = scores.sort(dim=1, descending=True, stable=True)
        chosen = chosen[:, : self.k]
        p = probs.take_along_dim(chosen, 1)
        weights = p / p.sum(1, keepdim=True)
        output = torch.einsum("tk,tkd->td", weights, self.dispatch(tokens, chosen))
        ones = torch.zeros_like(probs).scatter(1, chosen, 1.0)
        share = ones.mean(0) / self.k
        return output.reshape(x.shape), self.n_experts * (share @ probs.mean(0))
