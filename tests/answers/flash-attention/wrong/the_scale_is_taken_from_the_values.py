# family: core
# mistake: scaled-by-value-width
# The scale is taken from the values' width, not from the keys'.
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    in_dtype = q.dtype
    if in_dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    n, m = q.shape[2], k.shape[2]
    scale = 1 / v.shape[-1] ** 0.5  # wrong
    offset = m - n

    running_max = None
    for k_blk, v_blk, start in zip(k.split(block_size, 2), v.split(block_size, 2), range(0, m, block_size)):
        s = torch.matmul(q, k_blk.transpose(2, 3)) * scale
        if causal:
            visible = torch.ones(n, k_blk.shape[2], dtype=torch.bool, device=q.device).tril(offset - start)
            s = s.masked_fill(~visible, float("-inf"))
        blk_max = s.amax(dim=-1, keepdim=True).detach()
        if running_max is None:
            running_max = blk_max
            e = torch.exp(s - running_max)
            denom = e.sum(-1, keepdim=True)
            numer = e @ v_blk
        else:
            new_max = torch.maximum(running_max, blk_max)
            e = torch.exp(s - new_max)
            fix = torch.exp(running_max - new_max)
            denom = denom * fix + e.sum(-1, keepdim=True)
            numer = numer * fix + e @ v_blk
            running_max = new_max
    return (numer / denom).to(in_dtype)
