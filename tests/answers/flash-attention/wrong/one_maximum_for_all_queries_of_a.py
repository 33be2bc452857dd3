# family: core
# mistake: one-maximum-for-all-queries
# One maximum for all queries of a head, so the exponentials of a query whose scores are far lower all vanish.
import torch
from torch import Tensor


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    n, m = q.shape[-2], k.shape[-2]
    q = q.to(wide) * q.shape[-1] ** -0.5
    q_pos = torch.arange(m - n, m, device=q.device).unsqueeze(-1)

    largest = torch.full((*q.shape[:-1], 1), float("-inf"), dtype=wide, device=q.device)
    total = torch.zeros_like(largest)
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide, device=q.device)
    for start in range(0, m, block_size):
        keys = k[..., start : start + block_size, :].to(wide)
        values = v[..., start : start + block_size, :].to(wide)
        scores = q @ keys.transpose(-2, -1)
        if causal:
            k_pos = torch.arange(start, start + keys.shape[-2], device=q.device)
            scores = scores.masked_fill(k_pos > q_pos, float("-inf"))
        block_max = scores.detach().amax(dim=(-2, -1), keepdim=True)  # wrong
        new = torch.maximum(largest, block_max)
        base = new.masked_fill(new == float("-inf"), 0.0)
        p = torch.exp(scores - base)
        correction = torch.exp(largest - base)
        total = total * correction + p.sum(dim=-1, keepdim=True)
        output = output * correction + p @ values
        largest = new
    return (output / total).to(dtype)
