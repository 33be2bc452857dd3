import torch
import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    num_classes = logits.shape[-1]
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    keep = targets != ignore_index
    onehot = F.one_hot(targets.masked_fill(~keep, 0), num_classes).to(x.dtype)
    target_dist = (1.0 - label_smoothing) * onehot + label_smoothing / num_classes
    per_token = -(target_dist * F.log_softmax(x, dim=-1)).sum(dim=-1)
    per_token = per_token * keep
    return (per_token.sum() / keep.sum().clamp(min=1)).to(logits.dtype)
