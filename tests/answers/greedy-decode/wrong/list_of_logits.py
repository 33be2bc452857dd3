# family: device
# mistake: logits-to-the-host
import torch


def greedy_decode(step, bos, eos, max_len):
    written = []
    for _ in range(max_len):
        logits = step(torch.tensor([[bos, *written]]))[0].tolist()
        token = logits.index(max(logits))
        written.append(token)
        if token == eos:
            break
    return written
