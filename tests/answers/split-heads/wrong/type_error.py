# family: contract
# mistake: none
def split_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise TypeError(f"d_model={d} is not divisible by n_heads={n_heads}")
    return x.reshape(b, s, n_heads, d // n_heads).transpose(1, 2)


def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
