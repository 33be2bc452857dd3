"""Position tables, rotations and biases."""
# ruff: noqa: D101, D102, D103 - the name of a snippet says what it is

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from battery import HEADS, ROWS, WIDTH, B, D, H, N, legit


def frequencies(x):
    return 1.0 / (10000 ** (torch.arange(0, D, 2, device=x.device).float() / D))


@legit(HEADS)
def rotary_interleaved(x):
    angles = torch.outer(torch.arange(N, device=x.device).float(), frequencies(x))
    cos, sin, even, odd = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


@legit(HEADS)
def rotary_halves(x):
    angles = torch.einsum("i,j->ij", torch.arange(N, device=x.device).float(), frequencies(x))
    angles = torch.cat((angles, angles), -1)
    left, right = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((-right, left), -1) * angles.sin()


@legit(HEADS)
def rotary_complex(x):
    angles = torch.outer(torch.arange(N, device=x.device).float(), frequencies(x))
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().reshape(B, H, N, D // 2, 2))
    return torch.view_as_real(pairs * turns).flatten(3).type_as(x)


@legit(HEADS)
def rotary_with_strided_writes(x):
    angles = torch.arange(N, device=x.device)[:, None] * frequencies(x)
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * angles.cos() - x[..., 1::2] * angles.sin()
    out[..., 1::2] = x[..., 0::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return out


@legit(HEADS)
def rotary_with_repeat_interleave(x):
    angles = (torch.arange(3, N + 3, device=x.device)[:, None] * frequencies(x)).repeat_interleave(2, -1)
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return x * angles.cos() + turned * angles.sin()


@legit(HEADS)
def rotary_matrix(x):
    angles = torch.arange(N, device=x.device)[:, None] * frequencies(x)
    turn = torch.zeros(N, D // 2, 2, 2, device=x.device)
    turn[..., 0, 0], turn[..., 1, 1] = angles.cos(), angles.cos()
    turn[..., 0, 1], turn[..., 1, 0] = -angles.sin(), angles.sin()
    return torch.einsum("nfij,bhnfj->bhnfi", turn, x.unflatten(-1, (D // 2, 2))).flatten(-2)


@legit(ROWS)
def sinusoidal_in_place(x):
    table = torch.zeros(N, WIDTH, device=x.device)
    positions = torch.arange(N, device=x.device).unsqueeze(1)
    scale = torch.exp(torch.arange(0, WIDTH, 2, device=x.device) * (-math.log(10000.0) / WIDTH))
    table[:, 0::2], table[:, 1::2] = torch.sin(positions * scale), torch.cos(positions * scale)
    return x + table


class Sinusoidal(nn.Module):
    def __init__(self, persistent):
        super().__init__()
        positions = torch.arange(16.0)[:, None]
        scale = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(1e4) / WIDTH))
        table = torch.stack((torch.sin(positions * scale), torch.cos(positions * scale)), -1).flatten(1)
        self.register_buffer("table", table[None], persistent=persistent)

    def forward(self, x):
        return x + self.table[:, : x.size(1)].to(x.dtype)


@legit(ROWS)
def table_as_buffer(x):
    return Sinusoidal(persistent=True).to(x.device)(x)


@legit(ROWS)
def table_as_transient_buffer(x):
    return Sinusoidal(persistent=False).to(x.device)(x)


@legit(ROWS)
def table_moved_to_its_input(x):
    return x + Sinusoidal(persistent=True).table[:, :N].to(x)


@legit(ROWS)
def table_cached_on_first_use(x):
    cache = {}
    for _ in range(2):
        if x.device not in cache:
            cache[x.device] = torch.linspace(0, 1, WIDTH, device=x.device)
    return x + cache[x.device]


@legit(ROWS)
def learned_positions(x):
    torch.manual_seed(0)
    table = nn.Embedding(16, WIDTH).to(x.device)
    return x + table(torch.arange(N, device=x.device))


@legit(ROWS)
def learned_parameter(x):
    table = nn.Parameter(torch.arange(16.0 * WIDTH, device=x.device).view(16, WIDTH).sin())
    return x + table[: x.shape[1]]


@legit(HEADS, HEADS)
def alibi(q, k):
    slopes = torch.pow(2.0, -torch.arange(1, H + 1, device=q.device) * 8.0 / H)
    i = torch.arange(N, device=q.device)
    return q @ k.mT - slopes.view(H, 1, 1) * (i[:, None] - i).abs()


@legit(HEADS, HEADS)
def alibi_from_a_list(q, k):
    slopes = torch.tensor([2 ** (-8 * (h + 1) / H) for h in range(H)], device=q.device, dtype=q.dtype)
    i = torch.arange(N, device=q.device)
    return q @ k.mT - slopes[:, None, None] * (i[:, None] - i).abs()


@legit(HEADS, HEADS)
def relative_bias_by_gather(q, k):
    table = torch.linspace(-1, 1, (2 * N - 1) * H, device=q.device).view(2 * N - 1, H)
    i = torch.arange(N, device=q.device)
    return q @ k.mT + table[i[None] - i[:, None] + N - 1].permute(2, 0, 1)


@legit(HEADS)
def relative_shift(q):
    return F.pad(q @ q.mT, (1, 0)).view(B, H, N + 1, N)[:, :, 1:]


@legit((B, N))
def positions_from_a_mask(x):
    keep = x.detach() > 0
    return x * (keep.cumsum(1) - 1).clamp(min=0)
