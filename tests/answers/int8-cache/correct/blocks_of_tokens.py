import torch


def quantise(x, axis):
    low, high = torch.aminmax(x, dim=axis, keepdim=True)
    scale = torch.maximum(-low, high) / 127
    q = torch.div(x, scale.masked_fill(scale == 0, 1.0)).round_().to(torch.int8)
    return q, scale


def dequantise(q, scale, dtype):
    return q.to(dtype) * scale.to(dtype)


def int8_attention(query, keys, values, block=64):
    """Online softmax over blocks of the cache."""
    dtype = torch.promote_types(query.dtype, torch.float32)
    q = query.to(dtype) / query.size(-1) ** 0.5
    top = total = out = None
    for start in range(0, keys[0].size(2), block):
        rows = slice(start, start + block)
        s = (q @ keys[0][:, :, rows].to(dtype).mT) * keys[1][:, :, rows].to(dtype).mT
        new = s.amax(-1, keepdim=True) if top is None else torch.maximum(top, s.amax(-1, keepdim=True))
        p = torch.exp(s - new)
        add = (p * values[1][:, :, rows].to(dtype).mT) @ values[0][:, :, rows].to(dtype)
        if top is None:
            total, out = p.sum(-1, keepdim=True), add
        else:
            old = torch.exp(top - new)
            total, out = total * old + p.sum(-1, keepdim=True), out * old + add
        top = new
    return (out / total).to(query.dtype)
