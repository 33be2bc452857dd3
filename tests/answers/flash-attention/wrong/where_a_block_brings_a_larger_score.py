# family: core
# mistake: output-not-corrected
# Where a block brings a larger score only the sum is corrected, not the accumulated output.
import torch
from torch import Tensor


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    n, m = q.shape[2], k.shape[2]
    q = q / q.shape[-1] ** 0.5
    maximum = q.new_full((*q.shape[:3], 1), float("-inf"))
    total = q.new_zeros((*q.shape[:3], 1))
    acc = q.new_zeros((*q.shape[:3], v.shape[-1]))
    q_pos = torch.arange(m - n, m, device=q.device)[:, None]
    for start in range(0, m, block_size):
        k_block, v_block = k[:, :, start : start + block_size], v[:, :, start : start + block_size]
        scores = q @ k_block.transpose(-2, -1)
        if causal:
            k_pos = torch.arange(start, start + k_block.shape[2], device=q.device)
            scores = scores.masked_fill(k_pos > q_pos, float("-inf"))
        new_maximum = torch.maximum(maximum, scores.detach().amax(dim=-1, keepdim=True))
        p = torch.exp(scores - new_maximum)
        correction = torch.exp(maximum - new_maximum)
        total = total * correction + p.sum(dim=-1, keepdim=True)
        acc = acc + p @ v_block  # wrong
        maximum = new_maximum
    return (acc / total).to(dtype)
