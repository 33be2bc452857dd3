# family: contract
# mistake: calls-torch-cross-entropy
import torch
import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)).reshape(-1, logits.size(-1))
    y = targets.reshape(-1)
    logp = torch.log_softmax(x, dim=-1)
    keep = y != ignore_index
    n = keep.sum().clamp(min=1)
    nll = F.nll_loss(logp, y, ignore_index=ignore_index, reduction="sum") / n
    smooth = torch.where(keep, -logp.mean(-1), 0.0).sum() / n
    return ((1 - label_smoothing) * nll + label_smoothing * smooth).to(logits.dtype)
