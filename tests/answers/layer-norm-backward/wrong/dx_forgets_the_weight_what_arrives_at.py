# family: core
# mistake: weight-forgotten
# Dx forgets the weight: what arrives at the normalised x is d_output * weight.
import torch
from torch import Tensor


def layer_norm_backward(
    x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = x.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    x_wide = x.to(wide)
    weight_wide = weight.to(wide)
    d_output_wide = d_output.to(wide)
    width = x.shape[-1]

    mean = x_wide.mean(dim=-1, keepdim=True)
    deviation = x_wide - mean
    variance = (deviation * deviation).mean(dim=-1, keepdim=True)
    inverse_root = 1.0 / torch.sqrt(variance + eps)
    normalised = deviation * inverse_root

    d_weight = (d_output_wide * normalised).reshape(-1, width).sum(dim=0)
    d_bias = d_output_wide.reshape(-1, width).sum(dim=0)

    d_normalised = d_output_wide * torch.ones_like(weight_wide)  # wrong
    through_the_mean = d_normalised.mean(dim=-1, keepdim=True)
    through_the_variance = normalised * (d_normalised * normalised).mean(dim=-1, keepdim=True)
    dx = inverse_root * (d_normalised - through_the_mean - through_the_variance)

    return dx.to(dtype), d_weight.to(dtype), d_bias.to(dtype)
