# family: mask
# mistake: none
import torch


def masked_softmax(scores, valid_lens=None):
    """Guess from the sizes what the lengths belong to."""
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    if valid_lens.numel() == n:
        lens = valid_lens.reshape(1, n, 1)
    else:
        lens = valid_lens.reshape(B, -1, 1)
    keep = torch.arange(m, device=scores.device) < lens
    weights = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=-1)
    return weights.masked_fill(~keep, 0.0)
