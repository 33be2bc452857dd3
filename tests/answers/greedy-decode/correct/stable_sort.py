import torch


def greedy_decode(step, bos, eos, max_len):
    sequence = [bos]
    done = False
    while not done:
        logits = step(torch.as_tensor(sequence).unsqueeze(0))
        order = torch.sort(logits[0], descending=True, stable=True).indices
        sequence += [int(order[0])]
        done = sequence[-1] == eos or len(sequence) - 1 == max_len
    return sequence[1:]
