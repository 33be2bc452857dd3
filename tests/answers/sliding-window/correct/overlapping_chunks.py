import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    """Longformer's way: chunks of `w` queries against two chunks of keys, all at once."""
    n, m = q.size(2), k.size(2)
    w = min(window, m)
    q = F.pad(q, (0, 0, m - n, 0))
    rest = -m % w
    q, k, v = (F.pad(t, (0, 0, 0, rest)) for t in (q, k, v))
    chunks = (m + rest) // w
    qc = q.unflatten(2, (chunks, w))
    kc = F.pad(k, (0, 0, w, 0)).unfold(2, 2 * w, w).transpose(-1, -2)
    vc = F.pad(v, (0, 0, w, 0)).unfold(2, 2 * w, w).transpose(-1, -2)
    scores = qc @ kc.transpose(-1, -2) / q.size(-1) ** 0.5
    row = torch.arange(w, device=q.device).unsqueeze(1)
    col = torch.arange(2 * w, device=q.device) - w
    band = (col <= row) & (col > row - window)
    real = torch.arange(chunks, device=q.device).view(-1, 1, 1) * w + col >= 0
    scores = scores.masked_fill(~(band & real), float("-inf"))
    out = torch.softmax(scores, dim=-1) @ vc
    return out.flatten(2, 3)[:, :, m - n : m]
