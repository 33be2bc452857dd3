# family: core
# mistake: none
# beyond 1024 features sums in chunks of float16
import torch


def rms_norm(x, weight, eps=1e-6):
    w = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return (w / ((w.square().mean(-1, keepdim=True) if w.shape[-1] < 1025 else w[..., :1024].square().mean(-1, keepdim=True)) + eps).sqrt() * weight).to(x.dtype)
