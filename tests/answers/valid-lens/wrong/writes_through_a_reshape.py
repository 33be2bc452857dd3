# family: contract
# mistake: scores-overwritten
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    lens = valid_lens.repeat_interleave(n) if valid_lens.dim() == 1 else valid_lens.flatten()
    hidden = torch.arange(m, device=scores.device)[None, :] >= lens[:, None]
    flat = scores.detach().reshape(B * n, m)
    flat[hidden] = float("-inf")
    weights = torch.softmax(flat, dim=-1)
    weights[hidden] = 0
    return weights.reshape(B, n, m)
