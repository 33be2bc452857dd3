# family: core
# mistake: everything-has-no-case
import torch

def top_p_filter(logits, p):
    x = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    s, idx = torch.sort(x, dim=-1, descending=True, stable=True)
    probs = torch.softmax(s, dim=-1)
    before = probs.cumsum(-1) - probs
    drop = before >= p
    drop[..., 0] = False
    drop = torch.zeros_like(drop).scatter(-1, idx, drop)
    return logits.masked_fill(drop, float("-inf"))

