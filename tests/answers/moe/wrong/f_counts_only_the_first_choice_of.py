# family: core
# mistake: first-choices-counted
# F counts only the first choice of each token, not all k.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(F.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if k < 1 or k > n_experts:
            raise ValueError(f"k = {k}, {n_experts} experts")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        E = len(self.experts)
        h = x.reshape(-1, x.size(-1))
        logits = self.router(h)
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        probs = F.softmax(logits, dim=-1, dtype=wide)
        top = torch.argsort(logits, dim=-1, descending=True, stable=True)[..., : self.k]
        gate = probs.gather(-1, top)
        gate = (gate / gate.sum(-1, keepdim=True)).to(x.dtype)

        y = h.new_zeros(h.shape)
        for e in range(E):
            rows, cols = (top == e).nonzero(as_tuple=True)
            if len(rows):
                y = y.index_add(0, rows, gate[rows, cols, None] * self.experts[e](h[rows]))

        share = F.one_hot(top[:, 0], E).to(wide).mean(0)  # wrong
        loss = E * torch.dot(share, probs.mean(0))
        return y.view(x.shape), loss.to(x.dtype)
