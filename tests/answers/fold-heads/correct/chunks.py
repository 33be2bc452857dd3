import torch


def fold_heads(x, n_heads):
    width, rest = divmod(x.size(-1), n_heads)
    if rest != 0 or width == 0:
        raise ValueError(f"{n_heads} heads cannot share {x.size(-1)} features")
    pieces = torch.chunk(x, n_heads, dim=-1)
    return torch.stack(pieces, dim=1).flatten(0, 1)


def unfold_heads(x, n_heads):
    heads = x.unflatten(0, (-1, n_heads)).unbind(dim=1)
    return torch.cat(heads, dim=-1)


def repeat_valid_lens(valid_lens, n_heads):
    return None if valid_lens is None else torch.stack([valid_lens] * n_heads, dim=1).flatten(0, 1)
