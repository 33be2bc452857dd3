# family: core
# mistake: length-normalised-at-the-end
# The winner is chosen by score per token (length normalisation), the brief says never divide by the length.
from dataclasses import dataclass

import torch


@dataclass
class Hyp:
    ids: list
    score: float
    done: bool


def beam_search(step, bos, eos, beam, max_len):
    hyps = [Hyp([], 0.0, False)]
    for _ in range(max_len):
        live = [h for h in hyps if not h.done]
        if not live:
            break
        prefix = torch.tensor([[bos] + h.ids for h in live], dtype=torch.long)
        logp = torch.log_softmax(step(prefix).double(), dim=-1)
        vocab = logp.shape[-1]
        table = torch.full((len(hyps), vocab), float("-inf"), dtype=logp.dtype, device=logp.device)
        row = 0
        for i, h in enumerate(hyps):
            if h.done:
                table[i, 0] = h.score
            else:
                table[i] = logp[row] + h.score
                row += 1
        values, where = table.flatten().sort(descending=True, stable=True)
        new = []
        for s, w in zip(values[:beam].tolist(), where[:beam].tolist()):
            if s == float("-inf"):
                break
            parent = hyps[w // vocab]
            if parent.done:
                new.append(parent)
            else:
                tok = w % vocab
                new.append(Hyp(parent.ids + [tok], s, tok == eos))
        hyps = new
    best = max(hyps, key=lambda h: h.score / max(1, len(h.ids)))  # wrong
    return best.ids, best.score
