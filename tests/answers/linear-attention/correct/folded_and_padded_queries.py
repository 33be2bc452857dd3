import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    B, H, n, d = q.shape
    m = k.size(2)
    q = (F.elu(q) + 1).reshape(B * H, n, d)
    k = (F.elu(k) + 1).reshape(B * H, m, d)
    v = v.reshape(B * H, m, -1)
    if causal:
        q = F.pad(q, (0, 0, m - n, 0))
        kv = torch.cumsum(k.unsqueeze(3) * v.unsqueeze(2), 1)
        z = torch.cumsum(k, 1)
        out = (q.unsqueeze(3) * kv).sum(2) / ((q * z).sum(2, keepdim=True) + eps)
        out = out[:, m - n :]
    else:
        norm = torch.bmm(q, k.sum(1).unsqueeze(2)) + eps
        out = torch.bmm(q, torch.bmm(k.transpose(1, 2), v)) / norm
    return out.view(B, H, n, -1)
