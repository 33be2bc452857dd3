# kata: cross-entropy
# names:
# lines: 3
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    dtype = logits.dtype
    if dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    V = logits.shape[-1]
    x = logits.reshape(-1, V)
    t = targets.reshape(-1)
    keep = t != ignore_index
    x, t = x[keep], t[keep]
    top = x.max(dim=-1, keepdim=True).values
    shifted = x - top
    log_z = shifted.exp().mean(-1, keepdim=True).log()  # wrong
    logp = shifted - log_z
    nll = -logp.gather(1, t[:, None]).squeeze(1)
    smooth = -logp.mean(-1)
    loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    count = keep.sum().clamp(min=1)
    return (loss.sum() / count).to(dtype)
