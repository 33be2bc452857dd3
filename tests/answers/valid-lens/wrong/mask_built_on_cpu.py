# family: device
# mistake: none
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    mask = torch.zeros(B, n, m, dtype=torch.bool)
    for b in range(B):
        for i in range(n):
            length = valid_lens[b] if valid_lens.dim() == 1 else valid_lens[b, i]
            mask[b, i, : int(length)] = True
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return torch.where(mask, weights, torch.zeros_like(weights))
