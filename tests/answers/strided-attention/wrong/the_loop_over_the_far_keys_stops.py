# family: core
# mistake: none
# The loop over the far keys stops in front of key 0, which a query at a multiple of the stride sees too.
import math

import torch
from torch import Tensor


def strided_mask(n: int, stride: int, device: torch.device | str | None = None) -> Tensor:
    query = torch.arange(n, device=device).view(n, 1)
    key = torch.arange(n, device=device).view(1, n)
    back = query - key
    return back.ge(0) & (back.lt(stride) | back.remainder(stride).eq(0))


def keys_of(i: int, stride: int) -> list[int]:
    near = list(range(max(0, i - stride + 1), i + 1))
    far = list(range(i - stride, 0, -stride))  # wrong
    return far[::-1] + near


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    scale = 1 / math.sqrt(q.size(-1))
    rows = []
    for i in range(q.size(2)):
        index = torch.tensor(keys_of(i, stride), device=q.device)
        keys, values = k.index_select(2, index), v.index_select(2, index)
        att = torch.einsum("bhd,bhmd->bhm", q[:, :, i], keys) * scale
        rows.append(torch.einsum("bhm,bhmv->bhv", att.softmax(-1), values))
    return torch.stack(rows, dim=2)
