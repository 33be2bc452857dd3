"""Beam search: the best of the sequences that stay among the best at every length."""

from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    step: Callable[[Tensor], Tensor], bos: int, eos: int, beam: int, max_len: int
) -> tuple[list[int], float]:
    """Search for a probable sequence.

    step     the language model: step(tokens), int64 (B, t), whole prefixes that begin with bos, on any device,
             returns logits (B, vocab) of the next token of each
    bos      id of the token that every prefix begins with
    eos      id of the token that ends a sequence; may be the same as bos
    beam     how many hypotheses are kept; may be larger than the vocabulary
    max_len  how many tokens to write at most, eos included, bos not

    The score of a hypothesis is the sum of the log-probabilities of its tokens. At each length the best `beam` are
    kept of: every unfinished hypothesis with every token behind it, and the finished ones as they are. Of equal
    scores the one of the better hypothesis comes first, then the lower id.

    Returns the best hypothesis, finished or not: its ids, without bos, with eos where it was written, and its score.
    `step` is called once for each length, with all unfinished hypotheses.
    """
    raise NotImplementedError("your turn: extend all hypotheses at once, keep the best, stop when all have ended")
