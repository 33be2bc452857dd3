# family: core
# mistake: float64-narrowed
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits.float(), dim=-1)
    keep = targets != ignore_index
    loss = -logp.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)).to(logits.dtype)
