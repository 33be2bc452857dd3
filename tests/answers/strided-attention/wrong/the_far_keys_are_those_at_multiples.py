# family: core
# mistake: none
# The far keys are those at multiples of stride (0, stride, ...) instead of at multiples of it before the query.
import torch
from torch import Tensor


def strided_mask(n: int, stride: int, device=None) -> Tensor:
    i = torch.arange(n, device=device)[:, None]
    j = torch.arange(n, device=device)[None, :]
    distance = i - j
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    n = q.shape[2]
    scale = q.shape[-1] ** -0.5
    rows = []
    for i in range(n):
        lo = max(0, i - stride + 1)  # the first of the near keys
        far = slice(0, lo, stride)  # wrong
        near = slice(lo, i + 1)
        keys = torch.cat((k[:, :, far], k[:, :, near]), dim=2)
        values = torch.cat((v[:, :, far], v[:, :, near]), dim=2)
        scores = q[:, :, i : i + 1] @ keys.transpose(-2, -1) * scale
        rows.append(torch.softmax(scores, dim=-1) @ values)
    return torch.cat(rows, dim=2)
