# family: core
# mistake: eps-outside-the-root
# Eps is added to the root, not inside it.
import torch


def _mean(t):
    return t.mean(dim=-1, keepdim=True)


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    ct = torch.promote_types(x.dtype, torch.float32)
    xs, w, dy = x.to(ct), weight.to(ct), d_output.to(ct)
    centred = xs - xs[..., :1]
    centred = centred - _mean(centred)
    variance = _mean(centred ** 2)
    r = 1 / (variance.sqrt() + eps)  # wrong
    xhat = centred * r
    a = dy * w
    dx = r * (a - _mean(a) - xhat * _mean(a * xhat))
    d_weight = (dy * xhat).reshape(-1, x.shape[-1]).sum(dim=0)
    d_bias = dy.reshape(-1, x.shape[-1]).sum(dim=0)
    return dx.to(x.dtype), d_weight.to(x.dtype), d_bias.to(x.dtype)
