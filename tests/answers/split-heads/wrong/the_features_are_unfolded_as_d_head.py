# family: core
# mistake: heads-interleaved
# The features are unfolded as (d_head, H) instead of (H, d_head), so a head has every H-th feature.
def split_heads(x, n_heads):
    d_model = x.shape[-1]
    if d_model % n_heads:
        raise ValueError("d_model has to be a multiple of n_heads")
    return x.unflatten(-1, (d_model // n_heads, n_heads)).permute(0, 3, 1, 2)  # wrong


def concat_heads(x):
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)
