# family: contract
# mistake: left-to-autograd
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)

    def forward(x, weight, bias):
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps) * weight + bias

    given = x.to(wide), weight.to(wide), torch.zeros_like(weight, dtype=wide)
    _, back = torch.func.vjp(forward, *given)
    return tuple(g.to(x.dtype) for g in back(d_output.to(wide)))
