# family: core
# mistake: empty-rows-nan
# A length of 0 gives NaN, the rows without visible keys are not set to 0.
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return scores.softmax(dim=-1)
    lens = valid_lens
    while lens.dim() < 3:
        lens = lens.unsqueeze(-1)
    col = torch.arange(scores.shape[2], device=scores.device)
    keep = (col < lens).expand_as(scores)
    return scores.masked_fill(~keep, float("-inf")).softmax(dim=-1)  # wrong
