import torch


def split_heads(x, n_heads):
    if x.size(-1) % n_heads:
        raise ValueError(f"{x.size(-1)} is not a multiple of {n_heads}")
    return x.unflatten(-1, (n_heads, x.size(-1) // n_heads)).movedim(2, 1)


def concat_heads(x):
    return torch.movedim(x, 1, 2).flatten(start_dim=2)
