# family: core
# mistake: overwritten-by-the-next-expert
# What an expert makes of a token overwrites what the experts before it made, instead of being added.
import torch
from torch import Tensor, nn


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = torch.relu(self.dense1(tokens))
        return self.dense2(hidden)


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        if k not in range(1, n_experts + 1):
            raise ValueError(f"cannot choose {k} of {n_experts} experts")
        self.n_experts, self.k = n_experts, k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(FeedForward(d_model, d_ff))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        leading_axes = x.shape[:-1]
        all_tokens = x.reshape(-1, x.shape[-1])
        number_of_tokens = all_tokens.shape[0]
        precise = torch.float64 if x.dtype == torch.float64 else torch.float32

        router_scores = self.router(all_tokens)
        probabilities = torch.softmax(router_scores.to(precise), dim=-1)
        ranking = torch.argsort(router_scores, dim=-1, descending=True, stable=True)
        chosen_experts = ranking[:, : self.k]
        chosen_probabilities = torch.gather(probabilities, -1, chosen_experts)
        chosen_weights = chosen_probabilities / chosen_probabilities.sum(-1, keepdim=True)
        chosen_weights = chosen_weights.to(x.dtype)

        result = torch.zeros_like(all_tokens)
        choice_counts = []
        for index in range(self.n_experts):
            hits = chosen_experts == index
            choice_counts.append(hits.sum())
            token_numbers = hits.any(dim=-1).nonzero().squeeze(-1)
            if token_numbers.numel() > 0:
                its_weights = chosen_weights.masked_fill(~hits, 0.0).sum(-1)[token_numbers]
                its_output = self.experts[index](all_tokens[token_numbers])
                weighted = its_weights.unsqueeze(-1) * its_output
                result[token_numbers] = weighted  # wrong

        shares = torch.stack(choice_counts).to(precise) / (number_of_tokens * self.k)
        mean_probabilities = probabilities.mean(dim=0)
        balance = self.n_experts * (shares * mean_probabilities).sum()
        return result.reshape(*leading_axes, x.shape[-1]), balance.to(x.dtype)
