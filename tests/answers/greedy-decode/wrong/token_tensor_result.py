# family: core
# mistake: none
import torch


def greedy_decode(step, bos, eos, max_len):
    tokens = torch.tensor([[bos]])
    for _ in range(max_len):
        token = step(tokens).argmax(-1, keepdim=True).cpu()
        tokens = torch.cat([tokens, token], dim=1)
        if token.item() == eos:
            break
    return tokens[0, 1:]
