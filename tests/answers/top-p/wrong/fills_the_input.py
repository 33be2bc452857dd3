# family: contract
# mistake: logits-overwritten
import torch


def top_p_filter(logits, p):
    values, idx = torch.sort(logits, descending=True, dim=-1, stable=True)
    probs = torch.softmax(values, dim=-1)
    remove = probs.cumsum(-1) - probs >= p
    remove[..., 0] = False
    mask = torch.zeros_like(remove).scatter_(-1, idx, remove)
    logits[mask] = float("-inf")
    return logits
