# family: core
# mistake: probability-clamped
import torch
import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    V = logits.shape[-1]
    x = logits.to(torch.promote_types(logits.dtype, torch.float32))
    keep = (targets != ignore_index).to(x.dtype)
    onehot = F.one_hot(targets.masked_fill(targets == ignore_index, 0), V).to(x.dtype)
    soft = onehot * (1 - label_smoothing) + label_smoothing / V
    p = torch.softmax(x, dim=-1).clamp(min=1e-9)
    loss = -(soft * p.log()).sum(-1) * keep
    return (loss.sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
