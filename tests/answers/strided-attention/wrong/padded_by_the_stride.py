# family: core
# mistake: none
import math

import torch


def strided_mask(n, stride, device=None):
    i = torch.arange(n, device=device)
    distance = i[:, None] - i
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def strided_attention(q, k, v, stride):
    """Local part by padding the front with stride - 1 keys; what is far is looked at in place."""
    n = q.shape[-2]
    q = q / math.sqrt(q.shape[-1])
    keys = torch.nn.functional.pad(k, (0, 0, stride - 1, 0))
    values = torch.nn.functional.pad(v, (0, 0, stride - 1, 0))
    near = []
    for o in range(stride):
        column = (q * keys[:, :, stride - 1 - o : stride - 1 - o + n]).sum(-1)
        near.append(column.masked_fill(torch.arange(n, device=q.device) < o, float("-inf")))
    far = []
    offsets = list(range(stride, n, stride))
    for o in offsets:
        column = (q[:, :, o:] * k[:, :, : n - o]).sum(-1)
        far.append(torch.nn.functional.pad(column, (o, 0), value=float("-inf")))
    weights = torch.stack(near + far, -1).softmax(-1)
    output = sum(weights[..., o, None] * values[:, :, stride - 1 - o : stride - 1 - o + n] for o in range(stride))
    for p, o in enumerate(offsets):
        part = weights[:, :, o:, stride + p, None] * v[:, :, : n - o]
        output = output + torch.nn.functional.pad(part, (0, 0, o, 0))
    return output
