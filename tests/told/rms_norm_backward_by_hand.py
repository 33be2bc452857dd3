# kata: rms-norm
# names: size-detached
import torch


class _RMS(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        X, W = x.to(wide), weight.to(wide)
        r = ((X * X).mean(-1, keepdim=True) + eps).rsqrt()
        ctx.save_for_backward(X, W, r)
        ctx.kinds = x.dtype, weight.dtype
        return (X * r * W).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        X, W, r = ctx.saved_tensors
        G = g.to(X.dtype)
        hat = X * r
        gw = G * W
        dx = r * gw  # wrong
        dw = (G * hat).reshape(-1, X.shape[-1]).sum(0)
        return dx.to(ctx.kinds[0]), dw.to(ctx.kinds[1]), None


def rms_norm(x, weight, eps=1e-6):
    return _RMS.apply(x, weight, eps)
