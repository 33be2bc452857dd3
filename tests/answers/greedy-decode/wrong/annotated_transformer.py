# family: core
# mistake: bos-counted
import torch


def greedy_decode(step, bos, eos, max_len):
    ys = torch.zeros(1, 1).fill_(bos).long()
    for i in range(max_len - 1):
        prob = step(ys)
        next_word = prob.argmax(dim=1).item()
        ys = torch.cat([ys, torch.tensor([[next_word]])], dim=1)
        if next_word == eos:
            break
    return ys[0, 1:].tolist()
