import torch

NEG = float("-inf")


def masked_softmax(scores, mask=None, dim=-1):
    s = scores if mask is None else scores.masked_fill(mask == False, NEG)  # noqa: E712
    highest = s.detach().amax(dim=dim, keepdim=True)
    s = s - highest.masked_fill(highest == NEG, 0.0)  # at large scores a logarithm of float32 has few digits
    log_z = torch.logsumexp(s, dim=dim, keepdim=True)
    if mask is None:
        return torch.exp(s - log_z)
    alive = log_z > NEG
    log_z = log_z.masked_fill(~alive, 0.0)
    return torch.exp(s - log_z).masked_fill(~(mask & alive), 0)
