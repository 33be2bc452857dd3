import torch

"""Heads outermost first, because that is a cat, then rows put into the order that is wanted."""


def order(rows, n_heads, device):
    return torch.arange(rows, device=device).view(n_heads, -1).t().flatten()


def fold_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads does not divide the width")
    outermost = torch.cat(x.tensor_split(n_heads, dim=-1), dim=0)
    return outermost.index_select(0, order(len(outermost), n_heads, x.device))


def unfold_heads(x, n_heads):
    return torch.cat([x[h::n_heads] for h in range(n_heads)], dim=2)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    tiled = torch.cat([valid_lens] * n_heads)
    return torch.index_select(tiled, 0, order(len(tiled), n_heads, tiled.device))
