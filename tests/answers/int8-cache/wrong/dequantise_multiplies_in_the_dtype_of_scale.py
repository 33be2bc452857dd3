# family: core
# mistake: none
# Dequantise multiplies in the dtype of scale and casts then, so float32 gets the few digits of a half scale.
import math

import torch


def widened(t):
    return t if t.dtype == torch.float64 else t.double()


def step_of(x, axis):
    return x.abs().amax(axis, keepdim=True) / 127


def quantise(x, axis):
    big = widened(x)
    scale = step_of(big, axis)
    safe = scale.masked_fill(scale == 0, 1.0)
    q = (big / safe).round().clamp(-127, 127)
    return q.to(torch.int8), scale.to(x.dtype)


def dequantise(q, scale, dtype):
    return (q.to(scale.dtype) * scale).to(dtype)  # wrong


def int8_attention(query, keys, values):
    # the steps go to the small tensors: those of the keys to the scores, those of the values to the weights
    calc = torch.float64 if query.dtype == torch.float64 else torch.float32
    k, k_step = keys
    v, v_step = values
    s = torch.einsum("bhnd,bhmd->bhnm", query.to(calc), k.to(calc))
    s = s * k_step.to(calc).mT / math.sqrt(query.shape[-1])
    w = s.softmax(-1) * v_step.to(calc).mT
    return torch.einsum("bhnm,bhmv->bhnv", w, v.to(calc)).to(query.dtype)
