import torch


def top_p_filter(logits, p):
    if p == 1:
        return logits
    flipped = logits.flip(-1)
    values, indices = torch.sort(flipped, dim=-1, descending=False, stable=True)
    tail = values.softmax(dim=-1).cumsum(dim=-1)
    remove = tail <= 1 - p
    remove[..., -1] = False
    remove = remove.scatter(-1, indices, remove).flip(-1)
    return logits.masked_fill(remove, float("-inf"))
