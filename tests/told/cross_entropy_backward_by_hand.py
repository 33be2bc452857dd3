# kata: cross-entropy
# names:
import torch
from torch import Tensor


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, t, live, eps):
        logp = z.log_softmax(-1)
        count = live.sum().clamp_min(1)
        each = -(1 - eps) * logp.gather(-1, t[..., None])[..., 0] - eps * logp.mean(-1)
        soft = torch.zeros_like(logp).scatter(-1, t[..., None], 1 - eps) + eps / z.shape[-1]
        ctx.save_for_backward((logp.exp() - soft) * live[..., None] / count)
        return (each * live).sum() / count

    @staticmethod
    def backward(ctx, g):
        (grad,) = ctx.saved_tensors
        return grad, None, None, None  # wrong


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    live = targets != ignore_index
    wide = torch.promote_types(logits.dtype, torch.float32)
    return _Loss.apply(logits.to(wide), targets.masked_fill(~live, 0), live, label_smoothing).to(logits.dtype)
