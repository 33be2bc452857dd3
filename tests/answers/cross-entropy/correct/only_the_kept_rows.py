import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    chosen, classes = logits[keep], targets[keep]  # (N, V), (N,)
    wide = chosen.to(torch.promote_types(chosen.dtype, torch.float32))
    log_probs = wide - torch.logsumexp(wide, dim=-1, keepdim=True)
    losses = -torch.take_along_dim(log_probs, classes[:, None], dim=1)[:, 0]
    losses = torch.lerp(losses, -log_probs.mean(dim=1), label_smoothing)
    return (losses.sum() / max(losses.numel(), 1)).to(logits.dtype)
