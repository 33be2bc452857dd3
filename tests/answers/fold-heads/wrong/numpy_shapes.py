# family: grad
# mistake: detached
import numpy as np
import torch


def fold_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    values = x.detach().to(torch.float64).numpy().reshape(b, s, n_heads, d // n_heads)
    folded = np.ascontiguousarray(values.transpose(0, 2, 1, 3)).reshape(b * n_heads, s, d // n_heads)
    return torch.from_numpy(folded).to(x.dtype)


def unfold_heads(x, n_heads):
    return x.unflatten(0, (-1, n_heads)).transpose(1, 2).flatten(2)


def repeat_valid_lens(valid_lens, n_heads):
    return None if valid_lens is None else valid_lens.repeat_interleave(n_heads, dim=0)
