# family: core
# mistake: none
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    V = logits.size(-1)
    x = logits.view(-1, V)
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    y = targets.view(-1)
    keep = y != ignore_index
    logp = torch.log_softmax(x, dim=-1)
    nll = -logp.gather(1, y.clamp(min=0).masked_fill(~keep, 0).unsqueeze(1)).squeeze(1)
    loss = (1 - label_smoothing) * nll - label_smoothing * logp.mean(1)
    loss = torch.where(keep, loss, torch.zeros_like(loss))
    return (loss.sum() / keep.sum().clamp(min=1)).to(logits.dtype)
