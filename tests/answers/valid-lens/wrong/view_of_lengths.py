# family: mask
# mistake: none
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    shape = scores.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(shape[1])
    else:
        valid_lens = valid_lens.view(-1)
    flat = scores.view(-1, shape[-1])
    hidden = ~(torch.arange(shape[-1], device=scores.device) < valid_lens.unsqueeze(1))
    weights = torch.softmax(flat.masked_fill(hidden, float("-inf")), dim=-1)
    return weights.masked_fill(hidden, 0.0).view(shape)
