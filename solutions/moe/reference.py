"""Mixture of experts: each token goes through the few networks that a router chooses for it.

    y = sum over the k chosen experts of  p_e / (sum of the chosen p) * FFN_e(x)        p = softmax(W_r x)
    balance loss = E * sum over all experts of f_e P_e

f_e is the share of the choices that fell on expert e, P_e its mean probability; the loss is 1 where both are even.
Shazeer et al. 2017, "Outrageously Large Neural Networks" (arXiv:1701.06538), section 2; the loss is that of
Fedus et al. 2021, "Switch Transformers" (arXiv:2101.03961), section 2.2, for k choices; weights divided by their sum
as in Jiang et al. 2024, "Mixtral of Experts" (arXiv:2401.04088), section 2.1.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Expert(nn.Module):
    """Two layers with a ReLU between them, position by position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(tokens, d_model) to (tokens, d_model)."""
        return self.dense2(torch.relu(self.dense1(x)))


class MixtureOfExperts(nn.Module):
    """A feed-forward layer made of many networks, k of which each token goes through.

    d_model    width of the tokens
    d_ff       width of the hidden layer of an expert
    n_experts  how many experts there are
    k          how many of them a token goes through; ValueError where that is not from 1 to n_experts

    Attributes: router, an nn.Linear from d_model to n_experts without bias; experts, an nn.ModuleList, each expert with
    dense1 (nn.Linear, d_model to d_ff) and dense2 (nn.Linear, d_ff to d_model), a ReLU between them.
    """

    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError(f"k ({k}) must be from 1 to n_experts ({n_experts})")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Send each token through its k experts, and tell how evenly the experts are used.

        x  (..., d_model)

        Returns (output (..., d_model), balance loss ()).
        """
        n_experts = len(self.experts)
        tokens = x.reshape(-1, x.size(-1))  # (T, d_model)
        scores = self.router(tokens)  # (T, n_experts)
        probs = torch.softmax(scores, dim=-1)
        ranked = scores.sort(dim=-1, descending=True, stable=True).indices  # (T, n_experts)
        chosen = ranked[:, : self.k]  # (T, k)
        weights = probs.gather(1, chosen)  # (T, k)
        weights = weights / weights.sum(dim=-1, keepdim=True)

        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == number)  # the tokens that chose it, and with which of their choices
            results = expert(tokens[rows])
            output = output.index_add(0, rows, weights[rows, places].unsqueeze(1) * results)

        share = F.one_hot(chosen, n_experts).to(probs.dtype).mean(dim=(0, 1))  # (n_experts,)
        mean_probs = probs.mean(dim=0)  # (n_experts,)
        balance_loss = n_experts * (share * mean_probs).sum()
        return output.view(x.shape), balance_loss
