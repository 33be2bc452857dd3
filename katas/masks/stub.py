"""The masks of a Transformer. True = this key may be attended to."""

import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    """(B, S) token ids to a bool mask (B, 1, 1, S) that hides the padding."""
    raise NotImplementedError("your turn: which tokens are not padding?")


def causal_mask(n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """Bool mask (n, m) for n queries that are the last n of m positions; m = None means m = n.

    A query sees its own position and all before it.
    """
    raise NotImplementedError("your turn: who may look at whom?")


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Combine masks that broadcast: visible is what all of them show. None is skipped; None where no mask is left."""
    raise NotImplementedError("your turn: a key is visible where every mask shows it")
