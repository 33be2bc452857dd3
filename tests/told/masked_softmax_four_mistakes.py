# kata: masked-softmax
# names: fill-1e9-only, dim-ignored
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        assert mask.shape == scores.shape  # wrong
        scores = scores.masked_fill(mask == 0, -1e9)  # wrong
    return torch.softmax(scores, -1)  # wrong
