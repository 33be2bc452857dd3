# family: contract
# mistake: left-to-autograd
import torch


def attention_backward(q, k, v, d_output, mask=None):
    wide = torch.promote_types(q.dtype, torch.float32)

    def forward(q, k, v):
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        p = scores.softmax(-1)
        return (p if mask is None else p.masked_fill(~mask, 0.0)) @ v

    _, back = torch.func.vjp(forward, q.to(wide), k.to(wide), v.to(wide))
    return tuple(g.to(q.dtype) for g in back(d_output.to(wide)))
