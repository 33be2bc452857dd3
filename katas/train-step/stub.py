"""A step of training and an evaluation of a language model, around the loss of the next token."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def train_step(
    model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer, max_norm: float | None = None, pad_id: int = 0
) -> Tensor:
    """Take a step on a batch; returns its loss, the mean over its tokens, without a graph.

    model      (B, S) tokens in, (B, S, V) logits of the following token out
    batch      (B, S) int64, padded on the right
    optimizer  of the model's parameters: zero_grad() and step()
    max_norm   how long the gradient of all parameters may be; None is any length
    pad_id     a token that is never to be predicted
    """
    raise NotImplementedError("your turn: five things in the right order")


def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    """Return the loss of a model, the mean over the tokens of all batches; it leaves everything as it was.

    model    (B, S) tokens in, (B, S, V) logits of the following token out
    batches  each (B, S) int64, padded on the right; B and S may differ
    pad_id   a token that is never to be predicted
    """
    raise NotImplementedError("your turn: no dropout, no graph, one mean over all tokens")
