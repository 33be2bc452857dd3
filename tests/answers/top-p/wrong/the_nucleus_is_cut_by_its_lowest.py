# family: core
# mistake: equals-all-kept
# The nucleus is cut by its lowest logit, so that all tokens equal to that one stay.
import torch
import torch.nn.functional as F


def top_p_filter(logits, p):
    if p == 1:
        return logits.clone()
    ranked = logits.sort(dim=-1, descending=True, stable=True).values
    share = F.softmax(ranked.to(torch.float64), dim=-1).cumsum(-1)
    # how many are needed: those whose sum is still below p, and one more
    size = (share < p).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    lowest = ranked.gather(-1, size)
    return torch.where(logits >= lowest, logits, float("-inf"))  # wrong
