import torch


class HeadError(ValueError):
    pass


def _columns(n_heads, d_head, device):
    return torch.arange(n_heads * d_head, device=device).reshape(n_heads, d_head)


def split_heads(x, n_heads):
    if x.shape[2] % n_heads != 0:
        raise HeadError("uneven heads")
    picked = x[:, :, _columns(n_heads, x.shape[2] // n_heads, x.device)]
    return picked.swapaxes(1, 2)


def concat_heads(x):
    heads = [x.select(1, h) for h in range(x.size(1))]
    return torch.concat(heads, dim=2)
