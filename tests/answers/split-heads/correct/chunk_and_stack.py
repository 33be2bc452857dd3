import torch


def split_heads(x, n_heads):
    width, rest = divmod(x.shape[-1], n_heads)
    if rest != 0:
        raise ValueError("the heads cannot share this width")
    return torch.stack(torch.split(x, width, dim=-1), dim=1)


def concat_heads(x):
    return torch.cat(torch.unbind(x, dim=1), dim=-1)
