import torch


def masked_softmax(scores, valid_lens=None):
    dtype = scores.dtype
    x = scores.to(torch.promote_types(dtype, torch.float32))
    if valid_lens is None:
        return torch.softmax(x, -1).to(dtype)
    lens = valid_lens.view(-1, 1, 1) if valid_lens.dim() == 1 else valid_lens.unsqueeze(-1)
    hidden = torch.arange(scores.shape[-1], device=scores.device).ge(lens)
    x = torch.where(hidden, torch.finfo(x.dtype).min, x)
    w = torch.softmax(x, -1)
    return torch.where(hidden, 0.0, w).to(dtype)
