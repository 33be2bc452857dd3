# family: cost
# mistake: matrix-of-weights
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    fq, fk = F.elu(q) + 1, F.elu(k) + 1
    scores = torch.einsum("bhnd,bhmd->bhnm", fq, fk)
    if causal:
        n, m = scores.shape[-2:]
        mask = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(m - n)
        scores = scores.masked_fill(~mask, 0)
    return scores @ v / (scores.sum(-1, keepdim=True) + eps)
