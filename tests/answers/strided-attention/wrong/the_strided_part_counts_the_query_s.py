# family: core
# mistake: own-key-counted-twice
# The strided part counts the query's own position as well, which the window has already: it weighs double.
import torch
import torch.nn.functional as F
from torch import Tensor


def strided_mask(n: int, stride: int, device: torch.device | str | None = None) -> Tensor:
    i = torch.arange(n, device=device)
    diff = i.unsqueeze(1) - i.unsqueeze(0)
    near = diff < stride
    far = diff.remainder(stride) == 0
    return (diff >= 0) & (near | far)


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    B, H, n, d_k = q.shape
    s = min(stride, n)
    blocks = -(-n // s)
    extra = blocks * s - n

    def cut(x: Tensor) -> Tensor:  # (B, H, n, d) to (B, H, blocks, s, d)
        return F.pad(x, (0, 0, 0, extra)).reshape(B, H, blocks, s, x.shape[-1])

    def with_previous(x: Tensor) -> Tensor:  # each block behind the one before it: (B, H, blocks, 2s, d)
        return torch.cat([torch.cat([torch.zeros_like(x[:, :, :1]), x[:, :, :-1]], dim=2), x], dim=3)

    q, k, v = cut(q), cut(k), cut(v)
    block = torch.arange(blocks, device=q.device)
    row = torch.arange(s, device=q.device)
    column = torch.arange(2 * s, device=q.device)

    k_near, v_near = with_previous(k), with_previous(v)
    near = torch.einsum("bhird,bhicd->bhirc", q, k_near)
    distance = s + row[:, None] - column[None, :]
    near_visible = (distance >= 0) & (distance < s)
    exists = (block[:, None] > 0) | (column[None, :] >= s)
    near = near.masked_fill(~(near_visible & exists[:, None, :]), float("-inf"))

    far = torch.einsum("bhird,bhjrd->bhirj", q, k)
    far_visible = block[None, :] <= block[:, None]  # wrong
    far = far.masked_fill(~far_visible[:, None, :], float("-inf"))

    weights = torch.cat([near, far], dim=-1).div(d_k**0.5).softmax(dim=-1)
    w_near, w_far = weights.split([2 * s, blocks], dim=-1)
    output = torch.einsum("bhirc,bhicd->bhird", w_near, v_near) + torch.einsum("bhirj,bhjrd->bhird", w_far, v)
    return output.reshape(B, H, blocks * s, -1)[:, :, :n]
