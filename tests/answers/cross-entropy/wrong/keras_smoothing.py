# family: core
# mistake: smoothing-over-the-others
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """As in the Annotated Transformer: the confidence on the target, the rest on all others."""
    V = logits.size(-1)
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    keep = targets != ignore_index
    dist = torch.full_like(x, label_smoothing / max(V - 1, 1))
    dist = dist.scatter(-1, torch.where(keep, targets, 0).unsqueeze(-1), 1 - label_smoothing)
    loss = -(dist * x).sum(-1)
    return (torch.where(keep, loss, 0.0).sum() / keep.sum().clamp(min=1)).to(logits.dtype)
