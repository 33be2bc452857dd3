# family: grad
# mistake: constant-for-nothing
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    if keep.sum() == 0:
        return torch.zeros((), dtype=logits.dtype, device=logits.device)
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    logp = torch.log_softmax(x, dim=-1)
    loss = -logp.gather(-1, torch.where(keep, targets, 0)[..., None])[..., 0]
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum()).to(logits.dtype)
