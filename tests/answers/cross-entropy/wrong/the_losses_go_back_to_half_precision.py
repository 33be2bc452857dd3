# family: dtype
# mistake: half-inside
# The losses go back to half precision before they are added up, where their sum overflows.
import torch
import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    half = logits.dtype in (torch.half, torch.bfloat16)
    lp = F.log_softmax(logits, -1, dtype=torch.float32 if half else None)
    on = targets != ignore_index
    nll = -lp.gather(-1, (targets * on)[..., None])[..., 0]
    loss = ((1 - label_smoothing) * nll - label_smoothing * lp.mean(-1)).to(logits.dtype)  # wrong
    loss = loss.masked_fill(~on, 0)
    return (loss.sum() / on.sum().clamp(min=1)).to(logits.dtype)
