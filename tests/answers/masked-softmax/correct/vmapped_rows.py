import torch


def _row(scores, mask):
    hidden = torch.where(mask, scores, -torch.inf)
    return torch.where(mask, torch.softmax(hidden, 0), 0.0)


def masked_softmax(scores, mask=None, dim=-1):
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    moved, seen = scores.movedim(dim, -1), mask.movedim(dim, -1)
    rows = torch.func.vmap(_row)(moved.reshape(-1, moved.shape[-1]), seen.reshape(-1, moved.shape[-1]))
    return rows.reshape(moved.shape).movedim(-1, dim).to(scores.dtype)
