# family: core
# mistake: none
# D_weight is summed over the first axis only, not over all leading axes.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    half = x.dtype in (torch.float16, torch.bfloat16)
    if half:
        xx, ww, dd = x.float(), weight.float(), d_output.float()
    else:
        xx, ww, dd = x, weight, d_output
    dim = xx.shape[-1]
    if xx.dim() == 1:
        one = layer_norm_backward(x[None], weight, d_output[None], eps)
        return one[0][0], one[1], one[2]
    dev = xx - xx[..., :1]
    dev = dev - dev.mean(-1, keepdim=True)
    sigma = ((dev * dev).mean(-1, keepdim=True) + eps).sqrt()
    xhat = dev / sigma
    dxhat = dd * ww
    dx = (dxhat - dxhat.mean(-1, keepdim=True) - xhat * (dxhat * xhat).mean(-1, keepdim=True)) / sigma
    d_weight = (dd * xhat).sum(dim=0)  # wrong
    d_bias = dd.reshape(-1, dim).sum(dim=0)
    return dx.to(x.dtype), d_weight.to(x.dtype), d_bias.to(x.dtype)
