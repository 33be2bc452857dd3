import torch


class Softmax(torch.autograd.Function):
    """Softmax with a backward pass of its own."""

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        e = torch.exp(x - torch.where(top.isinf(), torch.zeros_like(top), top))
        total = e.sum(dim, keepdim=True)
        out = torch.where(total == 0, torch.zeros_like(e), e / total)
        ctx.save_for_backward(out)
        ctx.dim = dim
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return out * (grad - (grad * out).sum(ctx.dim, keepdim=True)), None


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return Softmax.apply(scores, dim)
