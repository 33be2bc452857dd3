# family: core
# mistake: equals-all-kept
import torch


def top_p_filter(logits, p):
    sorted_logits, _ = torch.sort(logits, dim=-1, descending=True)
    probs = torch.softmax(sorted_logits, dim=-1)
    keep = probs.cumsum(-1) - probs < p
    keep[..., 0] = True
    cutoff = sorted_logits.masked_fill(~keep, float("inf")).min(dim=-1, keepdim=True).values
    return torch.where(logits >= cutoff, logits, torch.full_like(logits, float("-inf")))
