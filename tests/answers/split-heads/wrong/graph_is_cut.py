# family: grad
# mistake: none
import torch


def split_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("bad heads")
    return x.reshape(b, s, n_heads, d // n_heads).transpose(1, 2)


@torch.no_grad()
def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
