# family: core
# mistake: none
# Online over blocks of 128 keys, with a running maximum that begins at 0.
import torch


def _wide(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def quantise(x, axis):
    y = x.to(_wide(x.dtype))
    top = y.abs().amax(axis, keepdim=True)
    unit = torch.where(top == 0, 1.0, top)
    q = (y / unit * 127).round().clamp(-127, 127).to(torch.int8)
    return q, (top / 127).to(x.dtype)


def dequantise(q, scale, dtype):
    wide = torch.promote_types(_wide(dtype), _wide(scale.dtype))
    return (q.to(wide) * scale.to(wide)).to(dtype)


def int8_attention(query, keys, values):
    wide = _wide(query.dtype)
    (kq, ks), (vq, vs) = keys, values
    s = query.to(wide) @ kq.to(wide).transpose(-1, -2)
    s = s * (ks.to(wide).transpose(-1, -2) / query.shape[-1] ** 0.5)
    if s.shape[-1] <= 128:
        w = s.softmax(-1) * vs.to(wide).transpose(-1, -2)
        return (w @ vq.to(wide)).to(query.dtype)
    top = s.new_zeros(*s.shape[:-1], 1)  # wrong
    total = torch.zeros_like(top)
    out = s.new_zeros(*s.shape[:-1], vq.shape[-1])
    for i in range(0, s.shape[-1], 128):
        new = torch.maximum(top, s[..., i : i + 128].amax(-1, keepdim=True))
        e = (s[..., i : i + 128] - new).exp()
        c = (top - new).exp()
        total = total * c + e.sum(-1, keepdim=True)
        out = out * c + (e * vs[:, :, i : i + 128].to(wide).transpose(-1, -2)) @ vq[:, :, i : i + 128].to(wide)
        top = new
    return (out / total).to(query.dtype)
