# family: contract
# mistake: left-to-autograd
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    dtype, wide = x.dtype, torch.promote_types(x.dtype, torch.float32)
    with torch.enable_grad():
        x, weight = (t.detach().to(wide).clone().requires_grad_() for t in (x, weight))
        bias = torch.zeros_like(weight, requires_grad=True)
        centred = x - x.mean(-1, keepdim=True)
        y = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps) * weight + bias
        y.backward(d_output.detach().to(wide))
    return x.grad.to(dtype), weight.grad.to(dtype), bias.grad.to(dtype)
