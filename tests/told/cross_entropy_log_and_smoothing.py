# kata: cross-entropy
# names: log-of-softmax, smoothing-of-ignored-tokens
import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """Cross entropy with one-hot masks."""
    n_classes = logits.shape[-1]
    scores = logits.reshape(-1, n_classes).to(torch.promote_types(logits.dtype, torch.float32))
    wanted = targets.reshape(-1)
    counts = wanted.ne(ignore_index)
    log_p = torch.softmax(scores, dim=-1).log()  # wrong
    classes = torch.arange(n_classes, device=logits.device)
    one_hot = wanted[counts].unsqueeze(-1).eq(classes)
    total = counts.sum().clamp(min=1)
    hard = -log_p[counts].masked_select(one_hot).sum() / total
    soft = -log_p.mean(dim=-1).sum() / total  # wrong, named
    return ((1 - label_smoothing) * hard + label_smoothing * soft).to(logits.dtype)
