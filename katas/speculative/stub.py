"""Speculative sampling: which drafted tokens stay, and what comes behind them."""

import torch
from torch import Tensor


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    """Keep drafts up to the first one that is rejected, and draw one token more.

    draft_tokens  (K,), int64, drawn from the rows of draft_probs
    draft_probs   (K, V), the small model's probabilities at the places of the drafts
    target_probs  (K + 1, V), the large model's, at the same places and at the one behind them
    uniforms      (K + 1,), from 0 to below 1: the first K decide on the drafts, the last one draws

    Draft x at place i is accepted where its uniform is below target_probs[i, x] / draft_probs[i, x]. At the first
    place that is rejected a token is drawn from max(0, target_probs[i] - draft_probs[i]); where all are accepted, from
    the last row of target_probs. Drawing with u from weights: the lowest id up to which (itself included) the weights
    add up to more than u times their sum.

    Returns (kept + 1,), int64: the accepted drafts and the drawn token.
    """
    raise NotImplementedError("your turn: find the first rejection, then draw one token")
