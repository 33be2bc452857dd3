# family: core
# mistake: none
# The part of the smoothing is summed over the ignored tokens as well.
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    # flatten everything: N tokens, V classes
    V = logits.shape[-1]
    x = logits.reshape(-1, V)
    t = targets.reshape(-1)

    # float32 for halves
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()

    # log softmax by hand, the maximum taken off first
    x = x - x.max(dim=-1, keepdim=True).values.detach()
    logp = x - x.exp().sum(dim=-1, keepdim=True).log()

    keep = t != ignore_index
    n = keep.sum().clamp(min=1)

    # the right classes
    idx = t.masked_fill(~keep, 0)
    nll = -logp[torch.arange(len(t), device=t.device), idx]
    nll = nll.masked_fill(~keep, 0.0).sum() / n

    # all classes alike
    smooth = -logp.mean(dim=-1).sum() / n  # wrong

    loss = (1 - label_smoothing) * nll
    if label_smoothing > 0:
        loss = loss + label_smoothing * smooth * keep.any()
    return loss.to(logits.dtype)
