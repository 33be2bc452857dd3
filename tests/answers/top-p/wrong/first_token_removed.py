# family: core
# mistake: nobody-survives
import torch
import torch.nn.functional as F


def top_p_filter(logits, p):
    sorted_logits, idx = torch.sort(logits, dim=-1, descending=True, stable=True)
    cum = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cum > p
    mask = remove.scatter(-1, idx, remove)
    return logits.masked_fill(mask, float("-inf"))
