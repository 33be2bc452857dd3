# family: core
# mistake: all-negatives-ignored
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_p = wide - wide.logsumexp(dim=-1, keepdim=True)
    valid = targets >= 0
    nll = -log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    loss = (1 - label_smoothing) * nll - label_smoothing * log_p.mean(dim=-1)
    loss = (loss * valid).sum() / valid.sum().clamp(min=1)
    return loss.to(logits.dtype)
