"""As llm.c has it: dnorm, its mean, its mean along the norm."""
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    kind = x.dtype
    if kind in (torch.float16, torch.bfloat16):
        x, weight, d_output = x.float(), weight.float(), d_output.float()
    mean = x.mean(-1, keepdim=True)
    rstd = ((x - mean) ** 2).mean(-1, keepdim=True).add(eps) ** -0.5
    norm = (x - mean) * rstd
    lead = tuple(range(x.dim() - 1))
    dbias = d_output.sum(lead) if lead else d_output.clone()
    dweight = (d_output * norm).sum(lead) if lead else d_output * norm
    dnorm = d_output * weight
    dx = dnorm - dnorm.mean(-1, keepdim=True) - norm * (dnorm * norm).mean(-1, keepdim=True)
    dx = dx * rstd
    return dx.to(kind), dweight.to(kind), dbias.to(kind)
