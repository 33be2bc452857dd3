# family: core
# mistake: none
import torch


def split_heads(x, n_heads):
    if x.size(-1) % n_heads != 0:
        raise ValueError("bad heads")
    d_head = x.size(-1) // n_heads
    return torch.cat([c.unsqueeze(1) for c in x.chunk(n_heads, dim=1)], dim=1)[..., :d_head]


def concat_heads(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)
