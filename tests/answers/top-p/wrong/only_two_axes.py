# family: core
# mistake: none
import torch


def top_p_filter(logits, p):
    values, idx = torch.sort(logits, descending=True, dim=-1, stable=True)
    probs = torch.softmax(values, dim=-1)
    remove = probs.cumsum(-1) - probs >= p
    remove[:, 0] = False
    out = logits.clone()
    for b in range(logits.size(0)):
        out[b, idx[b][remove[b]]] = float("-inf")
    return out
