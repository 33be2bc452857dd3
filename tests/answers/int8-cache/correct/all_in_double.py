import math

import torch


def quantise(x, axis):
    y = x.double()
    scale = y.abs().amax(dim=axis, keepdim=True) / 127
    q = y / scale.clamp_min(1e-300)
    return q.round().to(torch.int8), scale.to(x.dtype)


def dequantise(q, scale, dtype):
    return (q.double() * scale.double()).to(dtype)


def int8_attention(query, keys, values):
    (kq, ks), (vq, vs) = keys, values
    logits = query.double() @ kq.double().transpose(-1, -2)
    logits = logits * ks.double().transpose(-1, -2) * (1.0 / math.sqrt(query.shape[-1]))
    probs = torch.softmax(logits, dim=-1) * vs.double().transpose(-1, -2)
    return (probs @ vq.double()).type_as(query)
