# family: core
# mistake: last-of-equals
# Of equal logits the highest id wins.
import torch


def greedy_decode(step, bos, eos, max_len):
    tokens = [bos]
    for _ in range(max_len):
        logits = step(torch.tensor(tokens)[None]).squeeze(0)
        best = logits.sort(stable=True).indices[-1]  # wrong
        tokens.append(best.item())
        if tokens[-1] == eos:
            break
    return tokens[1:]
