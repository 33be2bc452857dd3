# kata: valid-lens
# names: tiled
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return scores.softmax(-1)
    B, n, m = scores.shape
    if valid_lens.dim() == 1:
        lens = valid_lens.repeat(n)  # wrong
    else:
        lens = valid_lens.reshape(-1)
    keep = torch.arange(m, device=scores.device)[None] < lens[:, None]
    X = scores.reshape(-1, m).masked_fill(~keep, float("-inf"))
    return X.softmax(-1).masked_fill(~keep, 0.0).reshape(B, n, m)
