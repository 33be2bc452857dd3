# family: contract
# mistake: no-divisibility-check
def fold_heads(x, n_heads):
    b, s, _ = x.shape
    return x.reshape(b, s, n_heads, -1).transpose(1, 2).flatten(0, 1)


def unfold_heads(x, n_heads):
    return x.unflatten(0, (-1, n_heads)).transpose(1, 2).flatten(2)


def repeat_valid_lens(valid_lens, n_heads):
    return None if valid_lens is None else valid_lens.repeat_interleave(n_heads, dim=0)
