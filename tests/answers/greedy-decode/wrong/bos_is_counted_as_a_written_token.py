# family: core
# mistake: bos-counted
# Bos is counted as a written token, one token too few.
import torch


def greedy_decode(step, bos, eos, max_len):
    seq = torch.tensor([[bos]], dtype=torch.long)
    while seq.size(1) < max_len:  # wrong
        nxt = step(seq).argmax(dim=-1, keepdim=True).to(seq.device)
        seq = torch.cat([seq, nxt], dim=1)
        if nxt.item() == eos:
            break
    return [int(t) for t in seq[0, 1:]]
