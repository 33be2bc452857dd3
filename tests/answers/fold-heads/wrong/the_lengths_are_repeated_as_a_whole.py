# family: core
# mistake: lengths-tiled
# The lengths are repeated as a whole (repeat), so row b * H + h gets the length of another sequence.
def fold_heads(x, n_heads):
    if x.shape[2] % n_heads != 0:
        raise ValueError("n_heads must divide the number of features")
    # (B, S, H, d_head)
    out = x.reshape(x.shape[0], x.shape[1], n_heads, x.shape[2] // n_heads)
    # (B, H, S, d_head)
    out = out.permute(0, 2, 1, 3)
    return out.reshape(-1, out.shape[2], out.shape[3])


def unfold_heads(x, n_heads):
    out = x.reshape(-1, n_heads, x.shape[1], x.shape[2])
    out = out.permute(0, 2, 1, 3)
    return out.reshape(out.shape[0], out.shape[1], -1)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    if valid_lens.dim() == 1:
        return valid_lens.repeat(n_heads)  # wrong
    return valid_lens.repeat(n_heads, 1)  # wrong
