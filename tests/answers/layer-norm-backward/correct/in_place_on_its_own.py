import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    work = x.dtype if x.dtype == torch.float64 else torch.float32
    var, mean = torch.var_mean(x.to(work), dim=-1, correction=0, keepdim=True)
    rstd = torch.rsqrt(var + eps)
    normed = (x.to(work) - mean) * rstd
    g = d_output.to(work)
    axes = list(range(x.ndim - 1))
    d_weight = torch.sum(g * normed, dim=axes) if axes else g * normed
    d_bias = torch.sum(g, dim=axes) if axes else g + 0
    g = g * weight.to(work)
    along = torch.mean(g * normed, -1, keepdim=True)
    dx = g.clone()
    dx -= g.mean(-1, keepdim=True)
    dx -= normed * along
    return (dx * rstd).to(x.dtype), d_weight.to(x.dtype), d_bias.to(x.dtype)
