# family: dtype
# mistake: half-inside
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits, dim=-1)
    keep = (targets != ignore_index).to(logits.dtype)
    picked = logp.gather(-1, (targets * (targets != ignore_index)).unsqueeze(-1)).squeeze(-1)
    loss = -((1 - label_smoothing) * picked + label_smoothing * logp.mean(-1)) * keep
    return loss.sum() / keep.sum().clamp(min=1)
