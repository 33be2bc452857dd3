# family: dtype
# mistake: float32-result
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    lse = torch.logsumexp(logits, dim=-1)
    keep = targets != ignore_index
    target_logit = logits.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    loss = lse - (1 - label_smoothing) * target_logit - label_smoothing * logits.mean(-1)
    return torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)
