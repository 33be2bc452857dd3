# family: grad
# mistake: added-inf
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is not None:
        if valid_lens.dim() == 1:
            valid_lens = valid_lens.unsqueeze(1)
        pos = torch.arange(scores.shape[-1], device=scores.device)
        keep = pos[None, None, :] < valid_lens.unsqueeze(-1)
        scores = scores + torch.log(keep.to(scores.dtype))
    return torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
