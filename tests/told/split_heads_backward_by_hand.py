# kata: split-heads
# names:
import torch


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


class _Concat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.transpose(1, 2).flatten(2)

    @staticmethod
    def backward(ctx, g):
        return g.reshape(ctx.shape)  # wrong


def concat_heads(x):
    return _Concat.apply(x)
