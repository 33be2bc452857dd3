# kata: layer-norm-backward
# names:
# lines: 3
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    dtype, shape = x.dtype, x.shape
    if dtype in (torch.float16, torch.bfloat16):
        x, weight, d_output = x.float(), weight.float(), d_output.float()
    d = shape[-1]
    x = x.reshape(-1, d)
    dy = d_output.reshape(-1, d)
    mean = x.mean(-1, keepdim=True)
    var = (x - mean).pow(2).mean(-1, keepdim=True)
    inv = 1.0 / torch.sqrt(var + eps)
    xhat = (x - mean) * inv
    d_weight = (dy * xhat).sum(0)
    d_bias = dy.sum(0)
    g = dy * weight
    m1 = g.mean(-1, keepdim=True)
    m2 = (dy * xhat).mean(-1, keepdim=True)  # wrong
    dx = inv * (g - m1 - xhat * m2)
    return dx.reshape(shape).to(dtype), d_weight.to(dtype), d_bias.to(dtype)
