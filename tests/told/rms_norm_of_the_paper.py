# kata: rms-norm
# names: eps-outside-the-root
import torch
def rms_norm(x, weight, eps=1e-6):
    norm_x = x.norm(2, dim=-1, keepdim=True)
    d_x = x.shape[-1]
    rms_x = norm_x * d_x ** (-1. / 2)
    x_normed = x / (rms_x + eps)  # wrong
    return weight * x_normed
