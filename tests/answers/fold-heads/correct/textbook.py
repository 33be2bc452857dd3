import torch


def fold_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    x = x.reshape(x.shape[0], x.shape[1], n_heads, -1)
    x = x.permute(0, 2, 1, 3)
    return x.reshape(-1, x.shape[2], x.shape[3])


def unfold_heads(x, n_heads):
    x = x.reshape(-1, n_heads, x.shape[1], x.shape[2])
    x = x.permute(0, 2, 1, 3)
    return x.reshape(x.shape[0], x.shape[1], -1)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, repeats=n_heads, dim=0)
    return valid_lens
