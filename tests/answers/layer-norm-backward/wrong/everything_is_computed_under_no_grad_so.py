# family: grad
# mistake: results-detached
# Everything is computed under no_grad, so the three results cannot be differentiated once more.
from typing import NamedTuple

import torch
from torch import Tensor


class Normalised(NamedTuple):
    x_hat: Tensor
    r_std: Tensor


class Gradients(NamedTuple):
    dx: Tensor
    d_weight: Tensor
    d_bias: Tensor

    def to(self, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        return self.dx.to(dtype), self.d_weight.to(dtype), self.d_bias.to(dtype)


def normalise(x: Tensor, eps: float) -> Normalised:
    centred = x - x.mean(dim=-1, keepdim=True)
    r_std = torch.rsqrt(centred.pow(2).mean(dim=-1, keepdim=True) + eps)
    return Normalised(centred * r_std, r_std)


def sum_over_tokens(t: Tensor) -> Tensor:
    return t.reshape(-1, t.shape[-1]).sum(dim=0)


def layer_norm_backward(
    x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    with torch.no_grad():  # wrong
        x_hat, r_std = normalise(x.to(wide), eps)
        d_y = d_output.to(wide)
        d_hat = d_y * weight.to(wide)
        mean_1 = d_hat.mean(dim=-1, keepdim=True)
        mean_2 = (d_hat * x_hat).mean(dim=-1, keepdim=True)
        gradients = Gradients((d_hat - mean_1 - x_hat * mean_2) * r_std, sum_over_tokens(d_y * x_hat), sum_over_tokens(d_y))
        return gradients.to(x.dtype)
