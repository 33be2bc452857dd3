"""Key/value caches, decoding steps and what PyTorch's transforms make of them."""
# ruff: noqa: D103 - the name of a snippet says what it is

from __future__ import annotations

import torch

from battery import HEADS, B, D, H, N, legit
from battery.attention import plain


@legit(HEADS, HEADS, HEADS)
def growing_by_cat(q, k, v):
    keys = values = None
    out = []
    for t in range(N):
        key, value = k[:, :, t : t + 1], v[:, :, t : t + 1]
        keys = key if keys is None else torch.cat([keys, key], 2)
        values = value if values is None else torch.cat((values, value), dim=2)
        out.append(plain(q[:, :, t : t + 1], keys, values))
    return torch.cat(out, 2)


@legit(HEADS, HEADS, HEADS)
def growing_from_an_empty_one(q, k, v):
    keys = torch.empty(B, H, 0, D, device=q.device, dtype=q.dtype)
    values = q.new_empty(B, H, 0, D)
    return plain(q, torch.cat([keys, k], 2), torch.cat([values, v], 2))


@legit(HEADS, HEADS, HEADS, grad=False)
def preallocated(q, k, v):
    keys = torch.zeros(B, H, 2 * N, D, device=q.device, dtype=q.dtype)
    values = torch.zeros_like(keys)
    out = []
    for t in range(N):
        keys[:, :, t] = k[:, :, t]
        values[:, :, t : t + 1].copy_(v[:, :, t : t + 1])
        out.append(plain(q[:, :, t : t + 1], keys[:, :, : t + 1], values[:, :, : t + 1]))
    return torch.cat(out, 2)


@legit(HEADS, HEADS, grad=False)
def written_by_index_copy(q, k):
    cache = q.new_zeros(B, H, N, D)
    for t in range(N):
        cache.index_copy_(2, torch.tensor([t], device=q.device), k[:, :, t : t + 1])
    return q @ cache.mT


@legit(HEADS, HEADS, grad=False)
def written_by_narrow(q, k):
    cache = q.new_zeros(B, H, N, D)
    cache.narrow(2, 1, 3).copy_(k[:, :, :3])
    return q @ cache.mT


@legit(HEADS)
def written_by_scatter(k):
    index = torch.arange(N - 1, -1, -1, device=k.device).view(1, 1, N, 1).expand(B, H, N, D)
    return torch.zeros_like(k).scatter(2, index, k)


@legit(HEADS)
def written_by_slice_scatter(k):
    return torch.zeros_like(k).slice_scatter(k[:, :, :2], dim=2, start=1, end=3)


@legit(HEADS)
def rolling(k):
    cache = torch.roll(k, -1, 2).clone()
    cache[:, :, -1] = 0
    return cache


@legit(HEADS, HEADS, HEADS)
def chunks(q, k, v):
    out = []
    for start in range(0, N, 4):
        stop = min(start + 4, N)
        rows = torch.arange(start, stop, device=q.device)[:, None]
        hidden = torch.arange(stop, device=q.device) > rows
        scores = (q[:, :, start:stop] @ k[:, :, :stop].mT).masked_fill(hidden, float("-inf"))
        out.append(scores.softmax(-1) @ v[:, :, :stop])
    return torch.cat(out, dim=2)


@legit((4, 10), grad=False)
def greedy_decoding(logits):
    tokens = torch.zeros(4, 1, dtype=torch.long, device=logits.device)
    for _ in range(3):
        step = logits + torch.nn.functional.one_hot(tokens[:, -1], 10)
        tokens = torch.cat([tokens, step.argmax(-1, keepdim=True)], 1)
        if (tokens[:, -1] == 2).all():
            break
    return tokens


@legit((4, 10), grad=False)
def beam_step(logits):
    scores, flat = logits.log_softmax(-1).view(-1).topk(3)
    return scores, torch.div(flat, 10, rounding_mode="floor"), flat % 10


@legit((4, 10), grad=False)
def nucleus_filter(logits):
    ordered, order = logits.sort(-1, descending=True)
    drop = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1) > 0.6
    return logits.masked_fill(drop.scatter(-1, order, drop), float("-inf"))


@legit((4, 3), grad=False)
def index_tensors_may_stay_on_the_cpu(x):
    return x[torch.tensor([0, 2])]


@legit((4, 3), grad=False)
def a_number_tensor_may_stay_on_the_cpu(x):
    y = x.clone()
    y[1] = torch.tensor(3.0)
    return y * torch.tensor(2.0) - torch.tensor(1.0)


@legit((4, 3), grad=False)
def a_write_into_a_slice_copies(x):
    y = x.clone()
    y[1] = torch.arange(3.0)
    return y


@legit((3, 4))
def jacobian(x):
    return torch.func.jacrev(lambda t: t.softmax(-1))(x)


@legit((3, 4))
def forward_derivative(x):
    return torch.func.jvp(lambda t: t.softmax(-1), (x,), (torch.ones_like(x),))[1]


@legit((3, 4))
def second_derivative(x):
    y = x if x.requires_grad else x.clone().requires_grad_()
    (grad,) = torch.autograd.grad((y.softmax(-1) ** 2).sum(), y, create_graph=True)
    return grad
