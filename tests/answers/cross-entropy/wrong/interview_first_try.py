# family: core
# mistake: log-of-softmax
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    dtype = logits.dtype
    if dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    logp = torch.softmax(logits, -1).log()
    mask = targets != ignore_index
    safe = targets.masked_fill(~mask, 0)
    nll = -logp.gather(-1, safe[..., None])[..., 0]
    loss = (1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)
    return (loss.masked_fill(~mask, 0).sum() / mask.sum().clamp(min=1)).to(dtype)
