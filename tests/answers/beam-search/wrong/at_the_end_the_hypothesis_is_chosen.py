# family: core
# mistake: length-normalised-at-the-end
# At the end the hypothesis is chosen by its score divided by its length.
from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Hypothesis:
    tokens: tuple[int, ...]
    score: float
    done: bool = False


def expand(step, bos, live):
    """Log-probabilities (live, vocab) of the next token, in double precision."""
    prefixes = torch.tensor([[bos, *h.tokens] for h in live], dtype=torch.int64)
    return torch.log_softmax(step(prefixes).double(), dim=-1)


def beam_search(step, bos, eos, beam, max_len):
    hypotheses = [Hypothesis((), 0.0)]
    for _ in range(max_len):
        live = [h for h in hypotheses if not h.done]
        if not live:
            break
        log_p = expand(step, bos, live)
        vocab = log_p.shape[-1]
        pieces, owners, starts, row, start = [], [], [], 0, 0
        for h in hypotheses:
            if h.done:
                pieces.append(log_p.new_tensor([h.score]))
            else:
                pieces.append(log_p[row] + h.score)
                row += 1
            owners.append(h)
            starts.append(start)
            start += len(pieces[-1])
        scores, order = torch.sort(torch.cat(pieces), dim=-1, descending=True, stable=True)
        best = []
        for s, i in zip(scores[:beam].tolist(), order[:beam].tolist()):
            if s == float("-inf"):
                break
            parent = max(p for p, first in enumerate(starts) if first <= i)
            h = owners[parent]
            if h.done:
                best.append(h)
            else:
                token = i - starts[parent]
                best.append(Hypothesis((*h.tokens, token), s, token == eos))
        hypotheses = best
    winner = max(hypotheses, key=lambda h: h.score / len(h.tokens))  # wrong
    return list(winner.tokens), winner.score
