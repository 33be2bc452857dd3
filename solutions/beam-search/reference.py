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
        live = [rank for rank, (written, _) in enumerate(hypotheses) if written[-1:] != [eos]]
        if not live:
            break
        batch = len(live)
        prefixes = torch.tensor([[bos, *hypotheses[rank][0]] for rank in live]).view(batch, t)  # (B, t)
        logits = step(prefixes)  # (B, vocab)
        vocab = logits.size(-1)

        wide = torch.promote_types(logits.dtype, torch.float32)
        log_probs = torch.log_softmax(logits, dim=-1, dtype=wide)  # (B, vocab)
        scores = torch.tensor([hypotheses[rank][1] for rank in live], dtype=wide, device=logits.device)  # (B,)
        totals = (scores[:, None] + log_probs).flatten()  # (B * vocab,)
        totals, places = totals.sort(descending=True, stable=True)  # (B * vocab,), (B * vocab,)

        candidates = [(score, rank, written) for rank, (written, score) in enumerate(hypotheses) if rank not in live]
        for total, place in zip(totals[:beam].tolist(), places[:beam].tolist(), strict=True):
            rank, token = live[place // vocab], place % vocab
            candidates.append((total, rank, [*hypotheses[rank][0], token]))
        candidates.sort(key=lambda candidate: (-candidate[0], candidate[1]))  # stable: lower ids stay first
        hypotheses = [(written, score) for score, _, written in candidates[:beam]]
    tokens, score = hypotheses[0]
    return tokens, score
