# family: core
# mistake: none
def split_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("bad heads")
    return x.reshape(b, s, n_heads, d // n_heads).permute(0, 2, 3, 1)


def concat_heads(x):
    b, h, d, s = x.shape
    return x.permute(0, 3, 1, 2).reshape(b, s, h * d)
