# family: core
# mistake: mean-of-means
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    logp = torch.log_softmax(x, dim=-1)
    keep = targets != ignore_index
    loss = -logp.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    loss = torch.where(keep, loss, 0.0)
    if loss.dim() == 0:
        return loss.to(logits.dtype)
    per_row = loss.sum(-1) / keep.sum(-1).clamp(min=1)
    return per_row.mean().to(logits.dtype)
