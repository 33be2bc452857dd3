# family: core
# mistake: fold-heads-outermost
import torch


def fold_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    return torch.cat(x.split(x.shape[-1] // n_heads, dim=-1), dim=0)


def unfold_heads(x, n_heads):
    heads = x.reshape(-1, n_heads, x.shape[1], x.shape[2]).transpose(1, 2)
    return heads.flatten(2)


def repeat_valid_lens(valid_lens, n_heads):
    return None if valid_lens is None else valid_lens.repeat_interleave(n_heads, dim=0)
