# family: core
# mistake: none
import math

import torch


def strided_mask(n, stride, device=None):
    i = torch.arange(n, device=device)
    distance = i[:, None] - i
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def places(n, stride):
    near = list(range(min(stride, n)))
    far = list(range(stride, n, stride))[:255]
    return near + far


def strided_attention(q, k, v, stride):
    B, H, n, d_k = q.shape
    q = q / math.sqrt(d_k)
    columns = []
    offsets = places(n, stride)
    for distance in offsets:
        column = (q[:, :, distance:] * k[:, :, : n - distance]).sum(-1)
        columns.append(torch.nn.functional.pad(column, (distance, 0), value=float("-inf")))
    weights = torch.stack(columns, -1).softmax(-1)
    output = torch.zeros(B, H, n, v.shape[-1], dtype=v.dtype, device=v.device)
    for place, distance in enumerate(offsets):
        part = weights[:, :, distance:, place, None] * v[:, :, : n - distance]
        output = output + torch.nn.functional.pad(part, (0, 0, distance, 0))
    return output
