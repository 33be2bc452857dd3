import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        neg_inf = torch.tensor(float("-inf"), dtype=scores.dtype, device=scores.device)
        scores = torch.where(mask, scores, neg_inf)
    return torch.nan_to_num(scores.softmax(dim), nan=0.0)
