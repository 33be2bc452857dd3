# family: cost
# mistake: prefix-summed-for-each-query
import torch
import torch.nn.functional as F


def attend(q, k, v, eps):
    return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1) + eps)


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        return attend(q, k, v, eps)
    past = k.size(2) - q.size(2)
    rows = [attend(q[:, :, i : i + 1], k[:, :, : past + i + 1], v[:, :, : past + i + 1], eps) for i in range(q.size(2))]
    return torch.cat(rows, dim=2)
