# family: core
# mistake: none
import torch


def layer_norm(x, weight, eps):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + eps) * weight


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    """Differences instead of a derivative, in float64."""
    dtype = x.dtype
    x, weight, d_output = x.double(), weight.double(), d_output.double()
    h, dx = 1e-3, torch.zeros_like(x)
    for i in range(x.shape[-1]):
        step = torch.zeros_like(x)
        step[..., i] = h
        up, down = layer_norm(x + step, weight, eps), layer_norm(x - step, weight, eps)
        dx[..., i] = ((up - down) / (2 * h) * d_output).sum(-1)
    ones = torch.ones_like(weight)
    d_weight = (d_output * layer_norm(x, ones, eps)).reshape(-1, x.shape[-1]).sum(0)
    return dx.to(dtype), d_weight.to(dtype), d_output.reshape(-1, x.shape[-1]).sum(0).to(dtype)
