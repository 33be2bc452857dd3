# family: core
# mistake: split-without-transpose
def split_heads(x, n_heads):
    """Undoes itself, and mixes tokens all the same."""
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("bad heads")
    return x.reshape(b, n_heads, s, d // n_heads)


def concat_heads(x):
    b, h, s, d = x.shape
    return x.reshape(b, s, h * d)
