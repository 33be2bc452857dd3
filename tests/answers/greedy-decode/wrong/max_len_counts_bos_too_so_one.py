# family: core
# mistake: bos-counted
# Max_len counts bos too, so one token too few is written.
import torch


def greedy_decode(step, bos, eos, max_len):
    "Write one token after the other."
    ys = torch.full((1, 1), bos, dtype=torch.long)
    written = []
    while ys.size(1) < max_len:  # wrong
        prob = step(ys)
        _, next_word = torch.max(prob, dim=1)
        next_word = next_word[0].item()
        written.append(next_word)
        ys = torch.cat([ys, torch.full((1, 1), next_word, dtype=torch.long)], dim=1)
        if next_word == eos:
            break
    return written
