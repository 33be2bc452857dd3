# family: core
# mistake: stops-at-first-end
# The search ends as soon as any kept hypothesis is finished, not when all are.
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Hypothesis:
    tokens: list[int]
    score: float
    finished: bool


def _extend(hyps: list[Hypothesis], logits: Tensor, eos: int, beam: int) -> list[Hypothesis]:
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    vocab = log_probs.shape[1]
    pieces, owners, row = [], [], 0
    for number, hyp in enumerate(hyps):
        if hyp.finished:
            pieces.append(torch.tensor([hyp.score], dtype=torch.float64, device=logits.device))
            owners.append((number, None))
        else:
            pieces.append(hyp.score + log_probs[row])
            owners.extend((number, token) for token in range(vocab))
            row += 1
    order = torch.sort(torch.cat(pieces), descending=True, stable=True)
    scores = order.values[:beam].tolist()
    places = order.indices[:beam].tolist()
    result = []
    for score, place in zip(scores, places):
        if score == -torch.inf:
            continue
        number, token = owners[place]
        if token is None:
            result.append(hyps[number])
        else:
            result.append(Hypothesis([*hyps[number].tokens, token], score, token == eos))
    return result


def beam_search(
    step: Callable[[Tensor], Tensor], bos: int, eos: int, beam: int, max_len: int
) -> tuple[list[int], float]:
    hyps = [Hypothesis([], 0.0, False)]
    for _ in range(max_len):
        prefixes = [[bos, *hyp.tokens] for hyp in hyps if not hyp.finished]
        hyps = _extend(hyps, step(torch.tensor(prefixes, dtype=torch.int64)), eos, beam)
        if any(hyp.finished for hyp in hyps):  # wrong
            break
    best = hyps[0]
    return best.tokens, best.score
