# family: device
# mistake: none
import torch


def fold_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(b, s, n_heads, d // n_heads).transpose(1, 2).reshape(b * n_heads, s, -1)


def unfold_heads(x, n_heads):
    return x.unflatten(0, (-1, n_heads)).transpose(1, 2).flatten(2)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    rows = [row for row in valid_lens.tolist() for _ in range(n_heads)]
    return torch.tensor(rows, dtype=valid_lens.dtype)
