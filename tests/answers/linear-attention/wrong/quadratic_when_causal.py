# family: cost
# mistake: matrix-of-weights-when-causal
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if causal:
        a = (q @ k.mT).tril(k.size(2) - q.size(2))
        return (a @ v) / (a.sum(-1, keepdim=True) + eps)
    return (q @ (k.mT @ v)) / (q @ k.sum(2, keepdim=True).mT + eps)
