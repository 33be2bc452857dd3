"""A step of training and an evaluation of a language model, around the loss of the next token.

    loss = mean of  -log softmax(model(tokens[:, :t]))[tokens[:, t]]  over all tokens but the first that are no padding
    g    = g * min(1, max_norm / |g|)        |g| over all parameters together

Clipping by the norm: Pascanu, Mikolov and Bengio 2013, "On the difficulty of training recurrent neural networks"
(arXiv:1211.5063), section 3.2.
"""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def next_token_loss(model: nn.Module, batch: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """Return the sum of the losses of all tokens that have one, and how many these are."""
    logits = model(batch[:, :-1])
    targets = batch[:, 1:]
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum")
    return total, (targets != pad_id).sum()


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
    model.train()
    optimizer.zero_grad()
    total, count = next_token_loss(model, batch, pad_id)
    loss = total / count.clamp(min=1)
    loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    """Return the loss of a model, the mean over the tokens of all batches; it leaves everything as it was.

    model    (B, S) tokens in, (B, S, V) logits of the following token out
    batches  each (B, S) int64, padded on the right; B and S may differ
    pad_id   a token that is never to be predicted
    """
    was_training = model.training
    model.eval()
    losses, tokens = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            total, count = next_token_loss(model, batch, pad_id)
            losses += total.item()
            tokens += count.item()
    model.train(was_training)
    return losses / max(tokens, 1)
