# family: core
# mistake: smoothing-of-ignored-tokens
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    logp = torch.log_softmax(x, dim=-1)
    keep = targets != ignore_index
    count = keep.sum().clamp(min=1)
    nll = -logp.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    nll = torch.where(keep, nll, 0.0).sum() / count
    smooth = -logp.mean(-1).sum() / count
    return ((1 - label_smoothing) * nll + label_smoothing * smooth).to(logits.dtype)
