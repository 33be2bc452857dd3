# family: contract
# mistake: no-divisibility-check
def split_heads(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2)


def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
