# family: mask
# mistake: added-1e9
import torch

def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(scores.size(-1), device=scores.device) < valid_lens[:, :, None]
    w = torch.softmax(scores + torch.where(keep, 0.0, -1e9), dim=-1)
    return w.masked_fill(~keep, 0.0)

