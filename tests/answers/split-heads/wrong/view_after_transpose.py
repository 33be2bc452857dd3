# family: core
# mistake: concat-by-view
def split_heads(x, n_heads):
    if x.size(-1) % n_heads != 0:
        raise ValueError("bad heads")
    return x.reshape(x.size(0), x.size(1), n_heads, -1).transpose(1, 2)


def concat_heads(x):
    b, h, s, d = x.shape
    return x.transpose(1, 2).view(b, s, h * d)
