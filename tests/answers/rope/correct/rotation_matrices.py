import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    pairs = range(d_head // 2)
    scale = torch.tensor([float(base) ** (-2 * i / d_head) for i in pairs], dtype=torch.float64, device=device)
    rows = torch.arange(seq_len, device=device).add(offset).double()
    table = rows.view(-1, 1) * scale.view(1, -1)
    return table.cos().float(), table.sin().float()


def apply_rotary(x, cos, sin):
    """A 2 x 2 matrix for each position and pair."""
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    matrix = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x.unflatten(-1, (-1, 2))
    return torch.einsum("spij,bhspj->bhspi", matrix, pairs).flatten(-2)
