# family: core
# mistake: bos-returned
import torch


def greedy_decode(step, bos, eos, max_len):
    ys = torch.ones(1, 1).fill_(bos).type(torch.long)
    for i in range(max_len):
        out = step(ys)
        _, next_word = torch.max(out, dim=1)
        next_word = next_word.item()
        ys = torch.cat([ys, torch.ones(1, 1).type_as(ys).fill_(next_word)], dim=1)
        if next_word == eos:
            break
    return ys[0].tolist()
