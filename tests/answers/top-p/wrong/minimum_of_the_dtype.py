# family: core
# mistake: none
import torch


def top_p_filter(logits, p):
    values, idx = torch.sort(logits, descending=True, dim=-1, stable=True)
    probs = torch.softmax(values, dim=-1)
    remove = probs.cumsum(-1) - probs >= p
    remove[..., 0] = False
    remove = remove.scatter(-1, idx, remove)
    return logits.masked_fill(remove, torch.finfo(logits.dtype).min)
