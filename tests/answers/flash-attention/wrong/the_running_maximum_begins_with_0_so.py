# family: core
# mistake: maximum-begins-too-high
# The running maximum begins with 0, so scores that are all far below it give 0 / 0.
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    # online softmax: remember the maximum m_i, the sum l_i and the output o_i of every query
    B, H, n, d = q.shape
    m = k.shape[2]
    calc = torch.float64 if q.dtype == torch.float64 else torch.float32
    qs = q.to(calc) / d**0.5

    m_i = torch.zeros(B, H, n, 1, dtype=calc, device=q.device)  # wrong
    l_i = torch.zeros(B, H, n, 1, dtype=calc, device=q.device)
    o_i = torch.zeros(B, H, n, v.shape[3], dtype=calc, device=q.device)

    for j in range(0, m, block_size):
        kj, vj = k[:, :, j : j + block_size].to(calc), v[:, :, j : j + block_size].to(calc)
        s = qs @ kj.transpose(2, 3)
        if causal:
            # query i stands at m - n + i
            rows = torch.arange(n, device=q.device).view(n, 1) + (m - n)
            cols = torch.arange(kj.shape[2], device=q.device).view(1, -1) + j
            s = s.masked_fill(cols > rows, float("-inf"))
        # a larger score may have come
        m_new = torch.maximum(m_i, s.amax(dim=-1, keepdim=True).detach())
        safe = torch.nan_to_num(m_new, neginf=0.0)
        p = torch.exp(s - safe)
        alpha = torch.exp(m_i - safe)
        l_i = l_i * alpha + p.sum(dim=-1, keepdim=True)
        o_i = o_i * alpha + p @ vj
        m_i = m_new

    return (o_i / l_i).to(q.dtype)
