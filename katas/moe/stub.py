"""Mixture of experts: each token goes through the few networks that a router chooses for it."""

import torch
from torch import Tensor, nn


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
        raise NotImplementedError("your turn: a router and a list of experts")

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Send each token through its k experts, and tell how evenly the experts are used.

        x  (..., d_model)

        The router's scores of a token become probabilities. Its k experts are those with the highest scores, the lower
        index first where scores are equal; their probabilities, divided by their sum, weigh what the experts make of
        the token.

        Returns (output (..., d_model), balance loss ()): n_experts * sum over experts of f_e P_e. f_e is the share of
        all choices, k a token, that fell on expert e; P_e is its mean probability over all tokens. Gradients flow
        through P_e alone.
        """
        raise NotImplementedError("your turn: choose, run each expert on its tokens, add up, measure the balance")
