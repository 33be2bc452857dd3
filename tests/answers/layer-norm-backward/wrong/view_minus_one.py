# family: core
# mistake: none
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    dtype = x.dtype
    x, weight, d_output = (t.to(torch.promote_types(dtype, torch.float32)) for t in (x, weight, d_output))
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    rstd = 1 / torch.sqrt(var + eps)
    x_hat = (x - mean) * rstd
    dims = tuple(range(x.dim() - 1))
    d_bias = d_output.view(-1, x.shape[-1]).sum(0)
    d_weight = (d_output * x_hat).sum(dims) if dims else d_output * x_hat
    g = d_output * weight
    n = x.shape[-1]
    dx = rstd / n * (n * g - g.sum(-1, keepdim=True) - x_hat * (g * x_hat).sum(-1, keepdim=True))
    return dx.to(dtype), d_weight.to(dtype), d_bias.to(dtype)
