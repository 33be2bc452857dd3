# family: core
# mistake: begins-with-end
# A hypothesis counts as finished when its last token is eos, bos included, so bos == eos ends the search at once.
import torch
from torch import Tensor


def beam_search(step, bos: int, eos: int, beam: int, max_len: int) -> tuple[list[int], float]:
    beams = [([bos], 0.0)]
    while True:
        unfinished = [(seq, score) for seq, score in beams if seq[-1] != eos]  # wrong
        if not unfinished or len(unfinished[0][0]) > max_len:
            break
        logits = step(torch.tensor([seq for seq, _ in unfinished]))
        log_probs = iter(torch.log_softmax(logits.to(torch.float64), dim=-1))
        blocks: list[Tensor] = []
        parents: list[tuple[int, int | None]] = []  # (parent, how many candidates)
        for number, (seq, score) in enumerate(beams):
            if any(seq is live for live, _ in unfinished):
                block = next(log_probs) + score
                parents.append((number, block.numel()))
            else:
                block = torch.tensor([score], dtype=torch.float64, device=logits.device)
                parents.append((number, None))
            blocks.append(block)
        everything = torch.cat(blocks)
        values, places = everything.sort(dim=-1, descending=True, stable=True)
        values, places = values[:beam].tolist(), places[:beam].tolist()
        new_beams = []
        for value, place in zip(values, places):
            if value == -float("inf"):
                continue
            for number, size in parents:
                if place < (size or 1):
                    seq, score = beams[number]
                    new_beams.append((seq, score) if size is None else (seq + [place], value))
                    break
                place -= size or 1
        beams = new_beams
    best_seq, best_score = beams[0]
    return best_seq[1:], best_score
