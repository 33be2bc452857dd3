# kata: top-p
# names:
import torch


def top_p_filter(logits, p):
    vals, idx = torch.sort(logits, dim=-1, descending=True, stable=True)
    probs = vals.softmax(-1)
    keep = probs.cumsum(-1) - probs < p
    keep[..., 0] = True
    vals = vals.masked_fill(~keep, -float("inf"))
    return vals.gather(-1, idx)  # wrong
