# family: core
# mistake: smoothing-over-the-others
# Smoothing gives the share to the V - 1 other classes only, where all V classes get it, the right one included.
import torch
from torch import nn


class LabelSmoothing(nn.Module):
    "Implement label smoothing."

    def __init__(self, padding_idx, smoothing=0.0):
        super().__init__()
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing

    def forward(self, x, target):
        "x: log-probabilities (N, V), target: (N,)"
        keep = target != self.padding_idx
        index = torch.where(keep, target, 0).unsqueeze(1)
        others = torch.full_like(x, self.smoothing / max(x.size(1) - 1, 1))  # wrong
        true_dist = others.scatter(1, index, self.confidence if x.size(1) > 1 else 1.0)  # wrong
        losses = -(true_dist * x).sum(dim=1)
        losses = losses.masked_fill(~keep, 0.0)
        return losses.sum() / keep.sum().clamp(min=1)


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    "The mean over all targets that count."
    wide = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    log_probs = wide.log_softmax(dim=-1)
    criterion = LabelSmoothing(ignore_index, label_smoothing)
    loss = criterion(log_probs.reshape(-1, logits.size(-1)), targets.reshape(-1))
    return loss.to(logits.dtype)
