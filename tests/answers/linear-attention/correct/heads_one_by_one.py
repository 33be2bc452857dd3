import torch


def feature_map(x):
    return torch.nn.functional.elu(x, alpha=1.0) + 1


def one_head(q, k, v, causal, eps):
    if not causal:
        return (q @ (k.T @ v)) / ((q @ k.sum(0))[:, None] + eps)
    rows, S, z = [], 0, 0
    first = len(k) - len(q)
    for j, (kj, vj) in enumerate(zip(k, v)):
        S, z = S + torch.outer(kj, vj), z + kj
        if j >= first:
            qi = q[j - first]
            rows.append((qi @ S) / (qi @ z + eps))
    return torch.stack(rows)


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = feature_map(q), feature_map(k)
    heads = [
        torch.stack([one_head(q[b, h], k[b, h], v[b, h], causal, eps) for h in range(q.size(1))])
        for b in range(q.size(0))
    ]
    return torch.stack(heads)
