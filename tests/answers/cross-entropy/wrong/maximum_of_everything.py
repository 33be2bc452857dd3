# family: core
# mistake: none
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    x = x - x.max()
    logp = x - x.exp().sum(-1, keepdim=True).log()
    keep = targets != ignore_index
    loss = -logp.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)).to(logits.dtype)
