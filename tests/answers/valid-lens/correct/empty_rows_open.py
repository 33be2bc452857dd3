import torch
import torch.nn.functional as F


def keep_mask(lens, n, m):
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).repeat(1, n)
    return torch.arange(m, device=lens.device).view(1, 1, m) < lens.unsqueeze(2)


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return F.softmax(scores, dim=-1)
    keep = keep_mask(valid_lens, scores.size(1), scores.size(2))
    empty = ~keep.any(dim=-1, keepdim=True)
    logits = scores.masked_fill(~(keep | empty), -torch.inf)
    return torch.exp(F.log_softmax(logits, dim=-1)).masked_fill(empty, 0)
