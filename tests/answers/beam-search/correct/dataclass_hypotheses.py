from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import torch


@dataclass
class Hypothesis:
    tokens: list[int] = field(default_factory=list)
    logprob: float = 0.0
    ended: bool = False

    def extend(self, token: int, logprob: float, eos: int) -> Hypothesis:
        return Hypothesis(self.tokens + [token], self.logprob + logprob, token == eos)


def best_tokens(row, how_many):
    row = row.clone()
    for _ in range(min(how_many, row.numel())):
        index = int(row.argmax())
        yield index, float(row[index])
        row[index] = float("-inf")
        if bool((row == float("-inf")).all()):
            return


def beam_search(step, bos, eos, beam, max_len):
    hypotheses = [Hypothesis()]
    for _ in range(max_len):
        active = [h for h in hypotheses if not h.ended]
        if not active:
            break
        rows = step(torch.tensor([[bos, *h.tokens] for h in active]))
        rows = rows - torch.logsumexp(rows, dim=-1, keepdim=True)
        table = dict(zip(map(id, active), rows))
        candidates = []
        for h in hypotheses:
            if h.ended:
                candidates.append(h)
            else:
                candidates.extend(h.extend(i, lp, eos) for i, lp in best_tokens(table[id(h)], beam))
        hypotheses = heapq.nsmallest(beam, candidates, key=lambda h: -h.logprob)
        if hypotheses[0].ended:  # nobody can overtake it
            break
    return hypotheses[0].tokens, hypotheses[0].logprob
