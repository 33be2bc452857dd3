# family: device
# mistake: none
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)).reshape(-1, logits.size(-1))
    y = targets.reshape(-1)
    keep = y != ignore_index
    logp = torch.log_softmax(x, dim=-1)
    onehot = torch.arange(x.size(-1)) == y[:, None]
    loss = -(logp * onehot).sum(-1)
    loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)).to(logits.dtype)
