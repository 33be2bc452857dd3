# family: core
# mistake: aligned-top-left
# Causal, the queries are taken for the first n positions, not the last n of m.
import torch


def _update(state, s, v):
    m_old, l_old, o_old = state
    m_new = torch.maximum(m_old, s.amax(-1)).detach()
    a = torch.exp(m_old - m_new)
    p = torch.exp(s - m_new[..., None])
    return m_new, a * l_old + p.sum(-1), a[..., None] * o_old + p @ v


def flash_attention(q, k, v, block_size=64, causal=False):
    ct = q.dtype if q.dtype == torch.float64 else torch.float32
    qf = q.to(ct)
    n, m = q.size(2), k.size(2)
    scale = q.size(-1) ** 0.5
    state = (
        torch.full(q.shape[:3], float("-inf"), dtype=ct, device=q.device),
        torch.zeros(q.shape[:3], dtype=ct, device=q.device),
        torch.zeros(*q.shape[:3], v.size(-1), dtype=ct, device=q.device),
    )
    i = torch.arange(n, device=q.device)  # wrong
    for start in range(0, m, block_size):
        stop = min(m, start + block_size)
        s = qf @ k[:, :, start:stop].to(ct).mT / scale
        if causal:
            j = torch.arange(start, stop, device=q.device)
            s = s.masked_fill(j[None] > i[:, None], float("-inf"))
        state = _update(state, s, v[:, :, start:stop].to(ct))
    _, l, o = state
    return (o / l.unsqueeze(-1)).to(q.dtype)
