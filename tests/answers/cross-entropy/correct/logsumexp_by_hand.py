import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    dtype = logits.dtype
    if dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    shifted = logits - logits.max(dim=-1, keepdim=True).values.detach()
    log_z = shifted.exp().sum(dim=-1).log()
    ignored = targets == ignore_index
    score = shifted.gather(-1, targets.masked_fill(ignored, 0).unsqueeze(-1)).squeeze(-1)
    loss = log_z - (1 - label_smoothing) * score - label_smoothing * shifted.mean(dim=-1)
    count = (~ignored).sum()
    return (loss.masked_fill(ignored, 0).sum() / torch.clamp(count, min=1)).to(dtype)
