import torch


def rms_norm(x, weight, eps=1e-6):
    # as_wide copies, so that the rest may work in place
    y = x.to(torch.float64 if x.dtype is torch.float64 else torch.float32, copy=True)
    scale = y.square().sum(dim=-1, keepdim=True).div_(y.size(-1)).add_(eps).rsqrt_()
    y = y.mul(scale)
    y.mul_(weight)
    return y.to(dtype=x.dtype)
