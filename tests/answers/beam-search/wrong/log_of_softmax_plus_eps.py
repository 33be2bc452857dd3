# family: dtype
# mistake: epsilon-in-the-logarithm
"""Adds 1e-10 to the probabilities before the logarithm."""

from collections.abc import Callable
import torch
from torch import Tensor


def beam_search(
    step: Callable[[Tensor], Tensor], bos: int, eos: int, beam: int, max_len: int
) -> tuple[list[int], float]:
    hypotheses: list[tuple[list[int], float]] = [([], 0.0)]
    for t in range(1, max_len + 1):
        live = [rank for rank, (written, _) in enumerate(hypotheses) if written[-1:] != [eos]]
        if not live:
            break
        batch = len(live)
        prefixes = torch.tensor([[bos, *hypotheses[rank][0]] for rank in live]).view(batch, t)
        logits = step(prefixes)
        vocab = logits.size(-1)
        wide = torch.promote_types(logits.dtype, torch.float32)
        log_probs = (torch.softmax(logits, dim=-1, dtype=wide) + 1e-10).log()
        scores = torch.tensor([hypotheses[rank][1] for rank in live], dtype=wide, device=logits.device)
        totals = (scores[:, None] + log_probs).flatten()
        totals, places = totals.sort(descending=True, stable=True)
        candidates = [(score, rank, written) for rank, (written, score) in enumerate(hypotheses) if rank not in live]
        for total, place in zip(totals[:beam].tolist(), places[:beam].tolist(), strict=True):
            rank, token = (live[place // vocab], place % vocab)
            candidates.append((total, rank, [*hypotheses[rank][0], token]))
        candidates.sort(key=lambda candidate: (-candidate[0], candidate[1]))
        hypotheses = [(written, score) for score, _, written in candidates[:beam]]
    tokens, score = hypotheses[0]
    return (tokens, score)
