# family: core
# mistake: none
# D_weight is summed over the first axis only, not over all leading axes.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    dt = x.dtype
    if dt in (torch.half, torch.bfloat16): x, weight, d_output = x.float(), weight.float(), d_output.float()
    c = x - x.mean(-1, keepdim=True)
    r = (c.square().mean(-1, keepdim=True) + eps).rsqrt()
    h, g = c * r, d_output * weight
    dx = r * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))
    dw = torch.atleast_2d(d_output * h).sum(0)  # wrong
    db = d_output.reshape(-1, x.shape[-1]).sum(0)
    return dx.to(dt), dw.to(dt), db.to(dt)
