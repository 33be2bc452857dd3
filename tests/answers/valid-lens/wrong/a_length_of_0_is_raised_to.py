# family: core
# mistake: none
# A length of 0 is raised to 1 to avoid NaN, so that the first key gets a weight of 1.
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return scores.softmax(-1)
    lens = valid_lens.clamp(min=1)  # wrong
    lens = lens.reshape(lens.shape[0], -1, 1)
    places = torch.arange(scores.shape[-1], device=scores.device)
    keep = places < lens
    s = scores.masked_fill(~keep, float("-inf"))
    e = (s - s.detach().amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
