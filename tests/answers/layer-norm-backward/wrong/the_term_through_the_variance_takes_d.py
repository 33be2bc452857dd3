# family: core
# mistake: none
# The term through the variance takes d_output as it came, without the weight.
import torch
from torch import Tensor


def layer_norm_backward(
    x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    dtype, d = x.dtype, x.shape[-1]
    wide = torch.promote_types(dtype, torch.float32)
    x, weight, d_output = x.to(wide), weight.to(wide), d_output.to(wide)

    centred = x - x.mean(dim=-1, keepdim=True)
    r = torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + eps)
    x_hat = centred * r

    d_hat = d_output * weight
    through_mean = d_hat.mean(dim=-1, keepdim=True)
    through_var = x_hat * (d_output * x_hat).mean(dim=-1, keepdim=True)  # wrong
    dx = r * (d_hat - through_mean - through_var)

    d_weight = (d_output * x_hat).reshape(-1, d).sum(dim=0)
    d_bias = d_output.reshape(-1, d).sum(dim=0)
    return dx.to(dtype), d_weight.to(dtype), d_bias.to(dtype)
