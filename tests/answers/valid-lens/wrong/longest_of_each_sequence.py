# family: mask
# mistake: none
import torch


def masked_softmax(scores, valid_lens=None):
    """Cut at the longest of each sequence, pad with zeros."""
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    out = torch.zeros_like(scores)
    for b in range(scores.size(0)):
        length = int(valid_lens[b].max())
        out[b, :, :length] = torch.softmax(scores[b, :, :length], dim=-1)
    return out
