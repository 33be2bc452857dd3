def fold_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.view(b, s, n_heads, d // n_heads).transpose(1, 2).contiguous().view(b * n_heads, s, d // n_heads)


def unfold_heads(x, n_heads):
    bh, s, d = x.shape
    return x.view(bh // n_heads, n_heads, s, d).transpose(1, 2).contiguous().view(bh // n_heads, s, n_heads * d)


def repeat_valid_lens(valid_lens, n_heads):
    return None if valid_lens is None else valid_lens.repeat_interleave(n_heads, dim=0)
