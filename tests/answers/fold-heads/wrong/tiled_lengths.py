# family: core
# mistake: none
def fold_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(b, s, n_heads, d // n_heads).transpose(1, 2).reshape(b * n_heads, s, -1)


def unfold_heads(x, n_heads):
    bh, s, d = x.shape
    return x.reshape(bh // n_heads, n_heads, s, d).transpose(1, 2).reshape(bh // n_heads, s, -1)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    if valid_lens.dim() == 1:
        return valid_lens.repeat(n_heads)
    return valid_lens.repeat_interleave(n_heads, dim=0)
