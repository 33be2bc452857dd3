# family: core
# mistake: none
# In the mask the multiples of the stride are visible in the future too (the causal condition binds to the window only).
import torch
from torch import Tensor


def strided_mask(n: int, stride: int, device: torch.device | str | None = None) -> Tensor:
    i = torch.arange(n, device=device)
    distance = i[:, None] - i[None, :]
    return (distance >= 0) & (distance < stride) | (distance % stride == 0)  # wrong


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    n, d_k = q.shape[2], q.shape[3]
    outputs = []
    for i in range(n):
        first_near = max(0, i - stride + 1)
        far, near = range(i % stride, first_near, stride), range(first_near, i + 1)
        seen = torch.tensor([*far, *near], device=q.device)
        scores = q[:, :, i : i + 1] @ k[:, :, seen].transpose(-2, -1) / d_k**0.5
        outputs.append(scores.softmax(dim=-1) @ v[:, :, seen])
    return torch.cat(outputs, dim=2)
