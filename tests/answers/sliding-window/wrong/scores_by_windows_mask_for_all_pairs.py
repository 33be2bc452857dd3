# family: cost
# mistake: none
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    w = min(window, m)
    allowed = torch.ones(m, m, dtype=torch.bool, device=q.device).tril()[m - n :]
    allowed = F.pad(allowed, (w - 1, 0))
    index = torch.arange(m - n, m, device=q.device)[:, None] + torch.arange(w, device=q.device)
    allowed = allowed.gather(1, index)
    kw = F.pad(k, (0, 0, w - 1, 0))[:, :, index]
    vw = F.pad(v, (0, 0, w - 1, 0))[:, :, index]
    scores = (kw @ q.unsqueeze(-1)).squeeze(-1) / q.size(-1) ** 0.5
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return (weights.unsqueeze(-2) @ vw).squeeze(-2)
