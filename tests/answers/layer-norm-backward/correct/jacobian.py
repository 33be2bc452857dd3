"""The Jacobian of each token, d by d, and a product with it."""
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    d = x.shape[-1]
    rows, g, w = x.reshape(-1, d).to(wide), d_output.reshape(-1, d).to(wide), weight.to(wide)
    centred = rows - rows.mean(1, keepdim=True)
    sigma = (centred.pow(2).mean(1, keepdim=True) + eps).sqrt()
    normed = centred / sigma
    eye = torch.eye(d, dtype=wide, device=x.device)
    jacobian = (eye - 1 / d - normed.unsqueeze(2) * normed.unsqueeze(1) / d) / sigma.unsqueeze(2)
    dx = torch.einsum("tij,ti->tj", jacobian, g * w)
    d_weight = torch.einsum("td,td->d", g, normed)
    return dx.reshape(x.shape).to(x.dtype), d_weight.to(x.dtype), g.sum(0).to(x.dtype)
