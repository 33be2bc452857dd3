# family: grad
# mistake: additive-inf-gradient
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim=dim)
    log_mask = mask.to(scores.dtype).log()  # 0 or -inf
    return torch.softmax(scores + log_mask, dim=dim).nan_to_num(0.0)
