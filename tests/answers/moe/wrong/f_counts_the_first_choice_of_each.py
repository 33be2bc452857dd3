# family: core
# mistake: first-choices-counted
# F counts the first choice of each token only, not all of its k choices.
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Expert(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(F.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError(f"k={k} is not between 1 and {n_experts}")
        self.n_experts = n_experts
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.shape[-1])
        scores = self.router(tokens)
        work = torch.float64 if x.dtype == torch.float64 else torch.float32
        probs = torch.softmax(scores, dim=-1, dtype=work)
        order = torch.sort(scores, dim=-1, descending=True, stable=True).indices
        chosen = order[:, : self.k]
        weights = probs.gather(-1, chosen)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(x.dtype)

        output = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == e)
            if token.numel() == 0:
                continue
            output = output.index_add(0, token, expert(tokens[token]) * weights[token, slot].unsqueeze(-1))

        counts = torch.bincount(chosen[:, 0], minlength=self.n_experts)  # wrong
        f = counts.to(work) / counts.sum()
        balance_loss = self.n_experts * (f * probs.mean(dim=0)).sum()
        return output.reshape(x.shape), balance_loss.to(x.dtype)
