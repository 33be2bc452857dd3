# family: core
# mistake: logits-overwritten
# The input is overwritten.
import torch


def top_p_filter(logits, p):
    if p >= 1.0:
        return logits
    sorted_logits, sorted_ids = torch.sort(logits, dim=-1, descending=True, stable=True)
    sorted_probs = torch.softmax(sorted_logits.double(), dim=-1)
    cumulative = torch.cumsum(sorted_probs, dim=-1)
    to_remove = cumulative >= p
    # shift right so that the token that crosses p stays
    to_remove[..., 1:] = to_remove[..., :-1].clone()
    to_remove[..., 0] = False
    mask = torch.empty_like(to_remove).scatter_(-1, sorted_ids, to_remove)
    logits[mask] = float("-inf")  # wrong
    return logits
