# family: core
# mistake: none
# Bos is never written: its logit is put to -inf, though it is a token like any other.
import torch


def greedy_decode(step, bos, eos, max_len):
    ids = torch.tensor([[bos]], dtype=torch.long)
    written = []
    for _ in range(max_len):
        logits = step(ids)[0].clone()
        if bos != eos:
            logits[bos] = float("-inf")  # wrong
        # lowest id of the largest logit
        places = torch.nonzero(logits == logits.max())
        best = int(places[0, 0])
        written.append(best)
        if best == eos:
            break
        ids = torch.cat([ids, torch.tensor([[best]])], dim=1)
    return written
