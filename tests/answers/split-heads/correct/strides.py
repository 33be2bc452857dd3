import torch


def split_heads(x, n_heads):
    """Nothing moves: only the strides are told anew."""
    B, S, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads has to divide d_model")
    d_head = d_model // n_heads
    b, s, d = x.stride()
    return x.as_strided((B, n_heads, S, d_head), (b, d_head * d, s, d))


def concat_heads(x):
    B, H, S, d_head = x.shape
    x = x.transpose(1, 2).contiguous()
    return x.as_strided((B, S, H * d_head), (S * H * d_head, H * d_head, 1))
