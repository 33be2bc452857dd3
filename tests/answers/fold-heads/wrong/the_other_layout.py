# family: core
# mistake: fold-heads-outermost
import torch


def fold_heads(x, n_heads):
    """Heads outermost everywhere, consistently."""
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(b, s, n_heads, d // n_heads).permute(2, 0, 1, 3).reshape(-1, s, d // n_heads)


def unfold_heads(x, n_heads):
    bh, s, d = x.shape
    return x.reshape(n_heads, bh // n_heads, s, d).permute(1, 2, 0, 3).reshape(bh // n_heads, s, n_heads * d)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    return torch.cat([valid_lens] * n_heads, dim=0)
