# family: core
# mistake: none
# Of several leading axes only the first is summed up in d_weight.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    kind = x.dtype
    if kind != torch.float64:
        x, weight, d_output = x.float(), weight.float(), d_output.float()

    # forward once more
    mean = x.mean(-1, keepdim=True)
    std = torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + eps)
    xhat = (x - mean) / std

    # the parameters
    token_axes = tuple(range(x.dim() - 1))
    d_weight = d_output * xhat
    if token_axes:
        d_weight = d_weight.sum(dim=token_axes[0])  # wrong
    d_bias = d_output
    if token_axes:
        d_bias = d_bias.sum(dim=token_axes)

    # x: three ways
    g = d_output * weight
    dx = g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True)
    dx = dx / std
    return dx.to(kind), d_weight.to(kind), d_bias.to(kind)
