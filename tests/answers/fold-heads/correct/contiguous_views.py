def fold_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads:
        raise ValueError(f"d_model={d}, n_heads={n_heads}")
    x = x.contiguous().view(b, s, n_heads, d // n_heads)
    return x.swapaxes(1, 2).contiguous().view(b * n_heads, s, d // n_heads)


def unfold_heads(x, n_heads):
    bh, s, d = x.shape
    return x.contiguous().view(bh // n_heads, n_heads, s, d).movedim(1, 2).contiguous().view(bh // n_heads, s, -1)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    if valid_lens.dim() == 1:
        return valid_lens[:, None].expand(-1, n_heads).reshape(-1)
    return valid_lens[:, None, :].expand(-1, n_heads, -1).reshape(-1, valid_lens.size(1))
