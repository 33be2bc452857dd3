# family: dtype
# mistake: half-inside
# The losses are rounded to the logits' dtype before they are summed, in float16 the sum overflows.
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    kept, right = logits[keep], targets[keep]
    logp = kept.to(torch.promote_types(kept.dtype, torch.float32)).log_softmax(-1)
    share = torch.full_like(logp, label_smoothing / logp.shape[-1])
    share = share.scatter_add(-1, right[:, None], torch.full_like(logp[:, :1], 1 - label_smoothing))
    losses = -(share * logp).sum(-1).to(logits.dtype)  # wrong
    return losses.sum() / max(right.numel(), 1)
