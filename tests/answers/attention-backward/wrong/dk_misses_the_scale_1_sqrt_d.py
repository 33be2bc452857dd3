# family: core
# mistake: scale-in-dq-alone
# Dk misses the scale 1 / sqrt(d_k).
import torch


def attention_backward(q, k, v, d_output, mask=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, d_output = q.float(), k.float(), v.float(), d_output.float()
    scale = k.shape[-1] ** -0.5
    scores = torch.einsum("...nd,...md->...nm", q, k) * scale
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
    d_v = torch.einsum("...nm,...nd->...md", weights, d_output)
    d_weights = torch.einsum("...nd,...md->...nm", d_output, v)
    if mask is not None:
        d_weights = d_weights.masked_fill(~mask, 0.0)
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
    d_q = torch.einsum("...nm,...md->...nd", d_scores, k) * scale
    d_k = torch.einsum("...nm,...nd->...md", d_scores, q)  # wrong
    return d_q.to(dtype), d_k.to(dtype), d_v.to(dtype)
