import math

import torch


def quantise(x, axis):
    scale = x.abs().max(dim=axis, keepdim=True).values / 127.0
    info = torch.finfo(x.dtype)
    q = torch.clamp(torch.round(x / scale.clamp(min=info.tiny * info.eps)), -127, 127)
    return q.to(torch.int8), scale


def dequantise(q, scale, dtype):
    return q.to(dtype).mul(scale.to(dtype))


def int8_attention(query, keys, values):
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):
        query = query.float()
    kq, ks = keys
    vq, vs = values
    ks, vs = ks.to(query.dtype), vs.to(query.dtype)
    s = torch.einsum("bhnd,bhmd->bhnm", query, kq.to(query.dtype))
    s = s * ks.squeeze(-1).unsqueeze(-2) / math.sqrt(query.shape[-1])
    p = s.softmax(-1)
    return torch.einsum("bhnm,bhmd->bhnd", p * vs.squeeze(-1).unsqueeze(-2), vq.to(query.dtype)).to(dtype)
