# family: core
# mistake: equals-all-kept
# Everything as large as the smallest kept logit is kept, ties at the border all survive.
import torch


def top_p_filter(logits, p):
    if p >= 1:
        return logits.clone()
    s, _ = logits.sort(dim=-1, descending=True, stable=True)
    pr = s.double().softmax(dim=-1)
    n_keep = ((pr.cumsum(-1) < p).sum(-1, keepdim=True) + 1).clamp(max=logits.shape[-1])
    cutoff = s.gather(-1, n_keep - 1)
    return torch.where(logits >= cutoff, logits, torch.full_like(logits, float("-inf")))  # wrong
