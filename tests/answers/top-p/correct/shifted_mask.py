import torch
import torch.nn.functional as F


def top_p_filter(logits, p):
    sorted_logits, sorted_indices = torch.sort(logits, dim=-1, descending=True, stable=True)
    cumulative = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    if p >= 1.0:
        return logits.clone()
    remove = cumulative >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    mask = torch.zeros_like(remove)
    mask.scatter_(-1, sorted_indices, remove)
    out = logits.clone()
    out[mask] = float("-inf")
    return out
