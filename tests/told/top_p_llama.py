# kata: top-p
# names: sampling-probabilities-returned, unstable-sort
import torch


def top_p_filter(logits, p):
    probs = torch.softmax(logits, dim=-1)
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    probs_sum = torch.cumsum(probs_sort, dim=-1)
    mask = probs_sum - probs_sort > p
    probs_sort[mask] = 0.0
    probs_sort.div_(probs_sort.sum(dim=-1, keepdim=True))  # wrong
    return torch.zeros_like(probs).scatter(-1, probs_idx, probs_sort)
