# family: core
# mistake: eps-outside-the-root
# Eps is added outside of the root.
import torch


def _stats(x, eps):
    c = x - x.mean(-1, keepdim=True)
    var = torch.einsum("...d,...d->...", c, c)[..., None] / x.shape[-1]
    root = torch.sqrt(torch.where(var > 0, var, torch.ones_like(var)))
    inv = 1 / (torch.where(var > 0, root, torch.zeros_like(var)) + eps)  # wrong
    return c * inv, inv


def _dx(x_hat, inv, g):
    mean = lambda t: t.mean(-1, keepdim=True)
    return inv * (g - mean(g) - x_hat * mean(g * x_hat))


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    x_hat, inv = _stats(x.to(wide), eps)
    out, gain = d_output.to(wide), weight.to(wide)
    results = (
        _dx(x_hat, inv, out * gain),
        torch.einsum("...d,...d->d", out, x_hat),
        torch.einsum("...d->d", out),
    )
    return tuple(r.to(x.dtype) for r in results)
