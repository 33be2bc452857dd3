# family: core
# mistake: none
# Where causal, blocks behind the first query's position are passed over, though later queries see them.
import math

import torch


def _start(q, v):
    shape = q.shape[:3]
    top = q.new_full(shape, -math.inf)
    bottom = q.new_zeros(shape)
    acc = q.new_zeros(*shape, v.shape[-1])
    return top, bottom, acc


def _absorb(state, scores, values):
    top, bottom, acc = state
    new_top = torch.maximum(top, scores.detach().max(dim=-1).values)
    shift = torch.where(new_top.isinf(), torch.zeros_like(new_top), new_top)
    p = torch.exp(scores - shift[..., None])
    fix = torch.exp(top - shift)
    bottom = bottom * fix + p.sum(-1)
    acc = acc * fix[..., None] + torch.einsum("bhnm,bhmv->bhnv", p, values)
    return new_top, bottom, acc


def flash_attention(q, k, v, block_size=64, causal=False):
    kind = q.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    q = q / math.sqrt(q.shape[-1])
    n, m = q.shape[2], k.shape[2]
    old = m - n
    state = _start(q, v)
    for first in range(0, m, block_size):
        if causal and first > old:  # wrong
            break
        last = min(first + block_size, m)
        scores = torch.einsum("bhnd,bhmd->bhnm", q, k[:, :, first:last])
        if causal:
            future = torch.arange(first, last, device=q.device)[None] > torch.arange(old, m, device=q.device)[:, None]
            scores = scores.masked_fill(future, -math.inf)
        state = _absorb(state, scores, v[:, :, first:last])
    _, bottom, acc = state
    return (acc / bottom[..., None]).to(kind)
