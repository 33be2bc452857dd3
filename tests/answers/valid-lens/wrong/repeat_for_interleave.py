# family: mask
# mistake: tiled
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    lens = valid_lens.repeat(n) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
    hidden = torch.arange(m, device=scores.device)[None] >= lens[:, None]
    flat = scores.reshape(B * n, m).masked_fill(hidden, float("-inf"))
    return torch.softmax(flat, dim=-1).masked_fill(hidden, 0).reshape(B, n, m)
