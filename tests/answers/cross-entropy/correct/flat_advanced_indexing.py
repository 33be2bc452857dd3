import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    v = logits.size(-1)
    x = logits.reshape(-1, v).to(torch.promote_types(logits.dtype, torch.float32))
    y = targets.reshape(-1)
    valid = (y != ignore_index).to(x.dtype)
    y = (y * valid).long()
    logp = x.log_softmax(dim=1)
    rows = torch.arange(x.size(0), device=x.device)
    nll = -logp[rows, y]
    smooth = -logp.sum(dim=1) / v
    loss = nll + label_smoothing * (smooth - nll)
    return ((loss * valid).sum() / valid.sum().clamp(min=1.0)).to(logits.dtype)
