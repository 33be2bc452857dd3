# family: core
# mistake: nan-for-nothing
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    dtype = logits.dtype
    logits = logits.to(torch.promote_types(dtype, torch.float32))
    keep = targets != ignore_index
    logp = torch.log_softmax(logits[keep], dim=-1)
    picked = logp.gather(1, targets[keep][:, None])[:, 0]
    loss = -(1 - label_smoothing) * picked - label_smoothing * logp.mean(-1)
    return loss.mean().to(dtype)
