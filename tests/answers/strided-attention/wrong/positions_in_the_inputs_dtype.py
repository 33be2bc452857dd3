# family: dtype
# mistake: none
import math

import torch


def strided_mask(n, stride, device=None):
    i = torch.arange(n, device=device)
    distance = i[:, None] - i
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def strided_attention(q, k, v, stride):
    n = q.shape[-2]
    q = q / math.sqrt(q.shape[-1])
    position = torch.arange(n, device=q.device).to(q.dtype)
    rows = []
    for i in range(n):
        distance = position[i] - position[: i + 1]
        seen = ((distance < stride) | (distance % stride == 0)).nonzero()[:, 0]
        rows.append((q[:, :, i : i + 1] @ k[:, :, seen].mT).softmax(-1) @ v[:, :, seen])
    return torch.cat(rows, 2)
