import torch


def attention_backward(q, k, v, d_output, mask=None):
    wide = torch.promote_types(q.dtype, torch.float32)
    qw, kw, vw, go = q.to(wide), k.to(wide), v.to(wide), d_output.to(wide)
    scale = 1.0 / (k.size(-1) ** 0.5)
    logits = torch.matmul(qw, kw.transpose(-2, -1)).mul(scale)
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=wide, device=q.device).masked_fill(~mask, float("-inf"))
        logits = logits + bias
        alive = mask.any(-1, keepdim=True)
        logits = torch.where(alive, logits, torch.zeros_like(logits))
        weights = torch.softmax(logits, dim=-1) * alive
    else:
        weights = torch.softmax(logits, dim=-1)
    grad_weights = torch.matmul(go, vw.transpose(-2, -1))
    grad_logits = weights * grad_weights
    grad_logits = grad_logits - weights * grad_logits.sum(-1, keepdim=True)
    grad_q = torch.matmul(grad_logits, kw).mul(scale)
    grad_k = torch.matmul(grad_logits.transpose(-2, -1), qw).mul(scale)
    grad_v = torch.matmul(weights.transpose(-2, -1), go)
    return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype)
