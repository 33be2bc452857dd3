"""As FlashAttention has it: delta = rowsum(dO * O), and P from the logarithm of the denominator."""
import torch


def attention_backward(q, k, v, d_output, mask=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, d_output = q.float(), k.float(), v.float(), d_output.float()
    scale = k.shape[-1] ** -0.5
    s = torch.matmul(q, k.mT) * scale
    if mask is not None:
        s = torch.where(mask, s, float("-inf"))
    lse = torch.logsumexp(s, dim=-1, keepdim=True)
    if mask is not None:
        lse = torch.where(lse == float("-inf"), 0.0, lse)
    p = torch.exp(s - lse)
    o = p @ v
    delta = (d_output * o).sum(-1, keepdim=True)
    dv = p.mT @ d_output
    dp = d_output @ v.mT
    ds = p * (dp - delta) * scale
    return (ds @ k).to(dtype), (ds.mT @ q).to(dtype), dv.to(dtype)
