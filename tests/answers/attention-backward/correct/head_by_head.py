"""Everything flattened to one leading axis, one matrix at a time."""
import torch


def one(q, k, v, g, mask):
    scale = k.shape[1] ** -0.5
    s = (q @ k.T) * scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    p = torch.softmax(s, 1)
    if mask is not None:
        p = p.masked_fill(~mask, 0.0)
    dp = g @ v.T
    ds = p * (dp - (p * dp).sum(1, keepdim=True)) * scale
    return ds @ k, ds.T @ q, p.T @ g


def attention_backward(q, k, v, d_output, mask=None):
    lead, dtype = q.shape[:-2], q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    if mask is not None:
        mask = mask.expand(*lead, q.shape[-2], k.shape[-2]).reshape(-1, q.shape[-2], k.shape[-2])
    flat = [t.to(wide).reshape(-1, *t.shape[-2:]) for t in (q, k, v, d_output)]
    parts = [one(*[t[i] for t in flat], None if mask is None else mask[i]) for i in range(flat[0].shape[0])]
    results = (torch.stack(column).reshape(*lead, *column[0].shape) for column in zip(*parts, strict=True))
    return tuple(result.to(dtype) for result in results)
