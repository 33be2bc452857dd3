# family: core
# mistake: last-of-equals
import torch


def greedy_decode(step, bos, eos, max_len):
    tokens = [bos]
    while len(tokens) <= max_len:
        logits = step(torch.tensor([tokens]))[0]
        best, best_id = float("-inf"), 0
        for i in range(logits.size(0)):
            if logits[i].item() >= best:
                best, best_id = logits[i].item(), i
        tokens.append(best_id)
        if best_id == eos:
            break
    return tokens[1:]
