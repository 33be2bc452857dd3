# family: core
# mistake: lengths-flattened
# The lengths are repeated without an axis, which makes one long row of (B, n) lengths.
import torch


def fold_heads(x, n_heads):
    if n_heads <= 0 or x.size(-1) % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    # (B, S, d_model) -> H pieces (B, S, d_head) -> side by side in the batch
    pieces = torch.stack(x.chunk(n_heads, dim=-1), dim=1)
    return pieces.flatten(0, 1)


def unfold_heads(x, n_heads):
    pieces = x.unflatten(0, (-1, n_heads))
    return torch.cat(pieces.unbind(dim=1), dim=-1)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    return torch.repeat_interleave(valid_lens, repeats=n_heads)  # wrong
