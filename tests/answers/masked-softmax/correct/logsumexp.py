import torch

NEG = float("-inf")


def masked_softmax(scores, mask=None, dim=-1):
    s = scores if mask is None else scores.masked_fill(mask == False, NEG)  # noqa: E712
    log_z = torch.logsumexp(s, dim=dim, keepdim=True)
    if mask is None:
        return torch.exp(s - log_z)
    alive = log_z > NEG
    log_z = log_z.masked_fill(~alive, 0.0)
    return torch.exp(s - log_z).masked_fill(~(mask & alive), 0)
