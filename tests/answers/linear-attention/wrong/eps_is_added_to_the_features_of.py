# family: core
# mistake: none
# Eps is added to the features of every key, not once to the sum of the weights.
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    pq, pk = F.elu(q) + 1, F.elu(k) + 1
    n, m = q.shape[-2], k.shape[-2]
    if causal:
        kv = (pk.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(2)[:, :, m - n:]
        ks = (pk + eps).cumsum(2)[:, :, m - n:]  # wrong
        numer = (pq.unsqueeze(-2) @ kv).squeeze(-2)
        denom = (pq * ks).sum(-1, keepdim=True)
    else:
        numer = pq @ (pk.mT @ v)
        denom = pq @ (pk + eps).sum(2).unsqueeze(-1)  # wrong
    return numer / denom
