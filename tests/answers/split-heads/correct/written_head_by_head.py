import torch


def split_heads(x, n_heads):
    b, s, d = x.size()
    if d % n_heads != 0:
        raise ValueError("d_model % n_heads != 0")
    w = d // n_heads
    out = x.new_empty((b, n_heads, s, w))
    for h in range(n_heads):
        out[:, h, :, :] = x[:, :, h * w : (h + 1) * w]
    return out


def concat_heads(x):
    b, h, s, w = x.size()
    out = torch.zeros(b, s, h * w, dtype=x.dtype, device=x.device)
    for i in range(h):
        out[..., i * w : (i + 1) * w] = x[:, i]
    return out
