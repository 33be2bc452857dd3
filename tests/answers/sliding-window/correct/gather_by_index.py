import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.shape[2], k.shape[2]
    w = min(window, m)
    pos = torch.arange(m - n, m, device=q.device)[:, None] + torch.arange(1 - w, 1, device=q.device)
    absent = pos < 0
    idx = pos.clamp(min=0)
    kw, vw = k[:, :, idx], v[:, :, idx]
    scores = torch.einsum("bhnd,bhnwd->bhnw", q, kw) / q.shape[-1] ** 0.5
    scores[absent.expand_as(scores)] = -torch.inf
    return torch.einsum("bhnw,bhnwe->bhne", scores.softmax(dim=-1), vw)
