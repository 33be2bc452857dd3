# family: core
# mistake: eos-dropped
# The eos is not part of the result.
import torch


def greedy_decode(step, bos, eos, max_len):
    out = []
    while len(out) < max_len:
        logits = step(torch.tensor([[bos] + out]))
        tok = int(logits[0].argmax())
        if tok == eos:
            break  # wrong
        out.append(tok)
    return out
