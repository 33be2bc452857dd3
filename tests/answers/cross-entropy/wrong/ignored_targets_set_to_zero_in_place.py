# family: contract
# mistake: targets-overwritten
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    keep = targets != ignore_index
    targets[~keep] = 0
    logp = torch.log_softmax(x, dim=-1)
    loss = -logp.gather(-1, targets[..., None])[..., 0]
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)).to(logits.dtype)
