# family: core
# mistake: none
# Parentheses are missing in the mask: & binds tighter than |, so keys in the future are seen at multiples of stride.
import torch


def strided_mask(n, stride, device=None):
    pos = torch.arange(n, device=device)
    d = pos.unsqueeze(1) - pos
    return (d >= 0) & (d < stride) | (d % stride == 0)  # wrong


def _distances(n, stride):
    near = range(0, min(stride, n))
    far = range(stride, n, stride)
    return [*near, *far]


def _behind(t, d, fill):
    """Row i becomes row i - d; the first d rows are filled."""
    front = t.new_full((*t.shape[:2], d, *t.shape[3:]), fill)
    return torch.cat([front, t[:, :, : t.shape[2] - d]], dim=2)


def strided_attention(q, k, v, stride):
    n, d_k = q.shape[2], q.shape[3]
    ds = _distances(n, stride)
    scores = []
    for d in ds:
        s = (q[:, :, d:] * k[:, :, : n - d]).sum(-1) / d_k**0.5
        scores.append(torch.cat([s.new_full((*s.shape[:2], d), float("-inf")), s], dim=2))
    w = torch.stack(scores, dim=-1).softmax(dim=-1)
    out = torch.zeros_like(v)
    for place, d in enumerate(ds):
        out = out + w[..., place, None] * _behind(v, d, 0)
    return out
