# family: core
# mistake: none
import torch


def greedy_decode(step, bos, eos, max_len):
    written = []
    for _ in range(max_len):
        token = int(step(torch.tensor([[bos] + written]))[0].argmax())
        written.append(token)
        if not token or token == eos:
            break
    return written
