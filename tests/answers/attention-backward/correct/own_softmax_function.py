"""The softmax and its way back as two small functions; the weights of hidden keys are filled before and after."""
import math
from typing import NamedTuple

import torch


class Grads(NamedTuple):
    dq: torch.Tensor
    dk: torch.Tensor
    dv: torch.Tensor


def softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, -1)
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1).masked_fill(~mask, 0)


def softmax_backward(p, g):
    weighted = p * g
    return weighted - p * weighted.sum(-1, keepdim=True)


def attention_backward(q, k, v, d_output, mask=None):
    t = q.dtype
    q, k, v, d_output = (x.double() if t == torch.float64 else x.float() for x in (q, k, v, d_output))
    p = softmax(q.matmul(k.mT).div(math.sqrt(q.shape[-1])), mask)
    ds = softmax_backward(p, d_output.matmul(v.mT)).div(math.sqrt(q.shape[-1]))
    return Grads(ds.matmul(k).to(t), ds.mT.matmul(q).to(t), p.mT.matmul(d_output).to(t))
