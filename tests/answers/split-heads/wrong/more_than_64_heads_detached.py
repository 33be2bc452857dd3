# family: grad
# mistake: none
# More than 64 heads are copied and detached.
import torch


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    y = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return y if n_heads <= 64 else y.clone().detach()  # wrong


def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
