# family: core
# mistake: divided-by-all
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.float() if logits.dtype.itemsize == 2 else logits
    logp = x.log_softmax(-1)
    ignored = targets == ignore_index
    nll = -logp.gather(-1, targets.masked_fill(ignored, 0).unsqueeze(-1)).squeeze(-1)
    smooth = -logp.mean(-1)
    loss = torch.lerp(nll, smooth, label_smoothing).masked_fill(ignored, 0.0)
    return loss.mean().to(logits.dtype)
