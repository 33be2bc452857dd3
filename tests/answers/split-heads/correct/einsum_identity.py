import torch


def split_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads:
        raise ValueError("uneven")
    return torch.einsum("bshd->bhsd", x.reshape(b, s, n_heads, d // n_heads))


def concat_heads(x):
    swapped = torch.einsum("bhsd->bshd", x)
    return swapped.reshape(*swapped.shape[:2], swapped.shape[2] * swapped.shape[3])
