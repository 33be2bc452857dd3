import torch


def rms_norm(x, weight, eps=1e-6):
    def _norm(t):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + eps)

    upcast = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return _norm(upcast).type_as(x) * weight
