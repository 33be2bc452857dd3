# Head by head, and online over blocks of the cache.
import torch

WIDE = {torch.float64: torch.float64}


def quantise(x, axis):
    w = x.to(WIDE.get(x.dtype, torch.float32))
    largest = torch.linalg.vector_norm(w, ord=float("inf"), dim=axis, keepdim=True)
    relative = torch.where(largest > 0, w / largest, torch.zeros_like(w))
    q = torch.special.round(relative * 127.0).to(dtype=torch.int8)
    scale = torch.where(largest > 0, largest / 127.0, torch.ones_like(largest))
    return q, scale.to(x.dtype)


def dequantise(q, scale, dtype):
    work = WIDE.get(dtype, WIDE.get(scale.dtype, torch.float32))
    out = torch.empty(torch.broadcast_shapes(q.shape, scale.shape), dtype=work, device=q.device)
    out.copy_(q).mul_(scale.to(work))
    return out.to(dtype)


def int8_attention(query, keys, values, block=16):
    work = WIDE.get(query.dtype, torch.float32)
    heads = []
    for h in range(query.shape[1]):
        q = query[:, h].to(work) / query.shape[-1] ** 0.5
        top = total = out = None
        for a in range(0, keys[0].shape[2], block):
            part = slice(a, a + block)
            kq, ks = keys[0][:, h, part].to(work), keys[1][:, h, part].to(work)
            vq, vs = values[0][:, h, part].to(work), values[1][:, h, part].to(work)
            s = (q @ kq.mT) * ks.mT
            peak = s.amax(-1, keepdim=True)
            new = peak if top is None else torch.maximum(top, peak)
            e = (s - new).exp()
            if top is None:
                total, out = e.sum(-1, keepdim=True), (e * vs.mT) @ vq
            else:
                c = (top - new).exp()
                total, out = total * c + e.sum(-1, keepdim=True), out * c + (e * vs.mT) @ vq
            top = new
        heads.append(out / total)
    return torch.stack(heads, 1).to(query.dtype)
