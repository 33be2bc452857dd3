import torch


def masked_softmax(scores, valid_lens=None):
    """exp of log_softmax, in the scores' own dtype."""
    if valid_lens is None:
        return torch.log_softmax(scores, dim=-1).exp()
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(scores.size(-1), device=scores.device) < valid_lens[:, :, None]
    logp = torch.log_softmax(torch.where(keep, scores, torch.finfo(scores.dtype).min), dim=-1)
    return torch.where(keep, logp, 0.0).exp() * keep
