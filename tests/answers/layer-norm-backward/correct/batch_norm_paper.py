"""Step by step as the paper on batch normalisation has it: through the variance, then the mean, then x."""
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    out = x.dtype
    acc = torch.float64 if out == torch.float64 else torch.float32
    x, weight, d_output = x.to(acc), weight.to(acc), d_output.to(acc)
    m = x.shape[-1]
    mu = x.sum(-1, keepdim=True) / m
    dev = x - mu
    var = (dev * dev).sum(-1, keepdim=True) / m
    inv = 1 / torch.sqrt(var + eps)
    d_hat = d_output * weight
    d_var = (d_hat * dev).sum(-1, keepdim=True) * -0.5 * inv**3
    d_mu = -(d_hat * inv).sum(-1, keepdim=True) + d_var * (-2 * dev).sum(-1, keepdim=True) / m
    dx = d_hat * inv + d_var * 2 * dev / m + d_mu / m
    flat = d_output.flatten(0, -2) if d_output.dim() > 1 else d_output[None]
    normed = (dev * inv).reshape(flat.shape)
    return dx.to(out), (flat * normed).sum(0).to(out), flat.sum(0).to(out)
