# family: core
# mistake: last-token-only
# Only the last token is given to the model, which has no memory.
import torch


def greedy_decode(step, bos, eos, max_len):
    ids = []
    last = bos
    for _ in range(max_len):
        x = torch.full((1, 1), last, dtype=torch.int64)  # wrong
        last = step(x)[0].max(dim=-1).indices.item()
        ids.append(last)
        if last == eos:
            break
    return ids
