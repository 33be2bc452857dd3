# kata: top-p
# names:
import torch


def top_p_filter(logits, p):
    if p >= 1:
        return logits.clone()
    probs = torch.softmax(logits, dim=-1)
    sorted_probs, order = probs.sort(dim=-1, descending=True, stable=True)
    before = sorted_probs.cumsum(-1) - sorted_probs
    remove = before >= p
    remove[..., 0] = False
    out = logits.clone()
    out[..., order[remove]] = float("-inf")  # wrong
    return out
