# family: core
# mistake: crossing-token-dropped
# The token that reaches p is ruled out too (the cumulative sum is not shifted).
import torch


def top_p_filter(logits, p):
    if p >= 1:
        return logits
    ordered, idx = logits.sort(dim=-1, descending=True, stable=True)
    cum = ordered.double().softmax(-1).cumsum(-1)
    drop = cum > p  # wrong
    drop[..., 0] = False
    out_mask = torch.zeros_like(drop).scatter(-1, idx, drop)
    return logits.masked_fill(out_mask, float("-inf"))
