# kata: masked-softmax
# names: hidden-scores-times-zero
import torch

def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        result = torch.nn.functional.softmax(scores, dim=dim)
    else:
        while mask.dim() < scores.dim():
            mask = mask.unsqueeze(1)
        # To limit numerical errors from large vector elements outside the mask, we zero these out.
        result = torch.nn.functional.softmax(scores * mask, dim=dim)  # wrong
        result = result * mask
        result = result / (result.sum(dim=dim, keepdim=True) + 1e-13)
    return result
