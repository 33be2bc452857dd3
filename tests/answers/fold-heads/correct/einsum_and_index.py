import torch


def fold_heads(x, n_heads):
    if x.shape[2] % n_heads != 0:
        raise ValueError("not divisible")
    x = x.unflatten(2, (n_heads, x.shape[2] // n_heads))
    return torch.einsum("bshi->bhsi", x).flatten(end_dim=1)


def unfold_heads(x, n_heads):
    batch = len(x) // n_heads
    return torch.einsum("bhsi->bshi", x.unflatten(0, (batch, n_heads))).flatten(start_dim=2)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    sequence = torch.arange(len(valid_lens) * n_heads, device=valid_lens.device) // n_heads
    return valid_lens[sequence]
