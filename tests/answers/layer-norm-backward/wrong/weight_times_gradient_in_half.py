# family: dtype
# mistake: none
# d_output * weight is computed in the dtype of the inputs: in float16 it may be infinite.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    kind = x.dtype
    up = torch.promote_types(kind, torch.float32)
    g = (d_output * weight).to(up)  # wrong
    x, d_output = x.to(up), d_output.to(up)
    dev = x - x.mean(-1, keepdim=True)
    r = torch.rsqrt(dev.square().mean(-1, keepdim=True) + eps)
    hat = dev * r
    dx = r * (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True))
    d = x.size(-1)
    d_weight = (d_output * hat).reshape(-1, d).sum(0)
    return dx.to(kind), d_weight.to(kind), d_output.reshape(-1, d).sum(0).to(kind)
