# family: dtype
# mistake: products-in-half
# Query times q is computed in the dtype of the query, which overflows in float16 before the scale comes.
import torch


def quantise(x, axis):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    absmax = x.abs().max(dim=axis, keepdim=True)[0] # (..., 1, ...)
    q = torch.round(x / torch.where(absmax == 0, 1.0, absmax) * 127)
    return q.to(torch.int8), (absmax / 127).to(dtype)


def dequantise(q, scale, dtype):
    work = torch.promote_types(dtype, scale.dtype)
    return (q.to(work) * scale.to(work)).to(dtype)


def int8_attention(query, keys, values):
    kq, ks = keys
    vq, vs = values
    work = torch.float64 if query.dtype == torch.float64 else torch.float32
    att = query @ kq.to(query.dtype).transpose(-2, -1) # (B, H, n, m)  # wrong
    att = att.to(work) * ks.to(work).transpose(-2, -1) / query.size(-1) ** 0.5
    att = torch.softmax(att, dim=-1)
    y = (att * vs.to(work).transpose(-2, -1)) @ vq.to(work) # (B, H, n, m) x (B, H, m, d_v) -> (B, H, n, d_v)
    return y.to(query.dtype)
