# family: core
# mistake: eps-on-every-feature
# Eps is added to the sum over the keys of every feature, before the product with the query, not to the sum of the weights.
import torch


def linear_attention(q, k, v, causal=False, eps=1e-6):
    kind = q.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()

    # feature map, elu(x) + 1
    q = torch.where(q > 0, q + 1, torch.exp(q.clamp(max=0)))
    k = torch.where(k > 0, k + 1, torch.exp(k.clamp(max=0)))

    n, m = q.shape[2], k.shape[2]
    if causal:
        # running sums over the keys; the queries are the last n of them
        z = k.cumsum(dim=2)[:, :, m - n :]
        kv = (k.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(dim=2)[:, :, m - n :]
        top = (q.unsqueeze(-2) @ kv).squeeze(-2)
    else:
        z = k.sum(dim=2, keepdim=True)
        kv = k.transpose(2, 3) @ v
        top = q @ kv
    bottom = (q * (z + eps)).sum(dim=-1, keepdim=True)  # wrong
    return (top / bottom).to(kind)
