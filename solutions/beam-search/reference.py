"""Beam search: the best of the sequences that stay among the best at every length.

    score(y_1 ... y_t) = sum over i of log p(y_i | bos, y_1, ..., y_{i-1})

Sutskever, Vinyals and Le 2014, "Sequence to Sequence Learning with Neural Networks" (arXiv:1409.3215), section 3.2;
here a finished hypothesis keeps its place in the beam, and the score is not divided by the length.
"""

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

    Returns the best hypothesis, finished or not: its ids, without bos, with eos where it was written, and its score.
    """
    hypotheses: list[tuple[list[int], float]] = [([], 0.0)]  # best first
    for t in range(1, max_len + 1):
        live = [written for written, _ in hypotheses if written[-1:] != [eos]]
        if not live:
            break
        batch = len(live)
        prefixes = torch.tensor([[bos, *written] for written in live]).view(batch, t)  # (B, t)
        logits = step(prefixes)  # (B, vocab)
        log_probs, ids = torch.log_softmax(logits, dim=-1).sort(dim=-1, descending=True, stable=True)  # (B, vocab)
        best = zip(log_probs[:, :beam].tolist(), ids[:, :beam].tolist(), strict=True)

        candidates = []
        for written, score in hypotheses:
            if written[-1:] == [eos]:
                candidates.append((written, score))
                continue
            for log_prob, token in zip(*next(best), strict=True):
                candidates.append(([*written, token], score + log_prob))
        candidates.sort(key=lambda candidate: -candidate[1])  # stable: of equal ones the first stays first
        hypotheses = candidates[:beam]
    tokens, score = hypotheses[0]
    return tokens, score
