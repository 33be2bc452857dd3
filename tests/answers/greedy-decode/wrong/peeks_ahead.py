# family: cost
# mistake: two-calls-a-token
import torch


def greedy_decode(step, bos, eos, max_len):
    written = []
    logits = step(torch.tensor([[bos]]))
    for _ in range(max_len):
        token = logits[0].argmax().item()
        written.append(token)
        logits = step(torch.tensor([[bos, *written]]))
        if token == eos:
            break
    return written
