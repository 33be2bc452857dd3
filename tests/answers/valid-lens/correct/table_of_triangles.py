import torch


def masked_softmax(scores, valid_lens=None):
    """Look the mask rows up in a lower triangle: row L shows the first L keys."""
    m = scores.size(2)
    if valid_lens is None:
        return torch.nn.Softmax(dim=2)(scores)
    table = torch.ones(m + 1, m, dtype=torch.bool, device=scores.device).tril(-1)
    keep = table[valid_lens]
    if keep.dim() == 2:
        keep = keep.unsqueeze(1)
    bias = torch.zeros(keep.shape, dtype=scores.dtype, device=scores.device)
    bias = bias.masked_fill(~keep, torch.finfo(scores.dtype).min)
    return torch.nn.Softmax(dim=2)(scores.masked_fill(~keep, 0) + bias) * keep
