# family: core
# mistake: none
# The weights are divided by their sum once more after the steps of the values went into them.
import torch


def quantise(x, axis):
    y = x.to(torch.float64)
    # one step for all numbers along the axis
    largest = torch.max(y.abs(), dim=axis, keepdim=True).values
    scale = largest / 127
    # only zeros: any step will do
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    q = torch.clamp(torch.round(y / scale), min=-127, max=127).to(torch.int8)
    return q, scale.to(x.dtype)


def dequantise(q, scale, dtype):
    out = q.double() * scale.double()
    return out.to(dtype)


def int8_attention(query, keys, values):
    dtype = torch.promote_types(query.dtype, torch.float32)
    q = query.to(dtype)
    d_k = q.shape[-1]

    # scores
    scores = torch.matmul(q, keys[0].to(dtype).transpose(2, 3))
    scores = scores * keys[1].to(dtype).transpose(2, 3)
    scores = scores / d_k**0.5

    # softmax by hand
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = torch.exp(scores)
    weights = weights / weights.sum(dim=-1, keepdim=True)

    # the values' steps
    weights = weights * values[1].to(dtype).transpose(2, 3)
    weights = weights / weights.sum(dim=-1, keepdim=True)  # wrong
    return torch.matmul(weights, values[0].to(dtype)).to(query.dtype)
