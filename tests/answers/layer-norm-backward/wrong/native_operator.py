# family: contract
# mistake: left-to-autograd
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y, w, g = x.to(wide).contiguous(), weight.to(wide), d_output.to(wide).contiguous()
    mean = y.mean(-1, keepdim=True)
    rstd = (y.var(-1, correction=0, keepdim=True) + eps).rsqrt()
    both = [True, True, True]
    grads = torch.ops.aten.native_layer_norm_backward(g, y, w.shape, mean, rstd, w, w, both)
    return tuple(t.to(x.dtype) for t in grads)
