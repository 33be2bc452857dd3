# family: cost
# mistake: loop-over-tokens
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x = logits.to(torch.promote_types(logits.dtype, torch.float32)).reshape(-1, logits.size(-1))
    total, count = x.sum() * 0.0, 0
    for row, target in zip(x, targets.reshape(-1)):
        if target == ignore_index:
            continue
        logp = row - row.logsumexp(0)
        total = total - (1 - label_smoothing) * logp[target] - label_smoothing * logp.mean()
        count += 1
    return (total / max(count, 1)).to(logits.dtype)
