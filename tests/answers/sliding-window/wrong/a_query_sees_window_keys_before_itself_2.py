# family: core
# mistake: window-one-too-many
# A query sees `window` keys before itself, one more than it should.
import torch
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    n, d_k = q.shape[-2:]
    m = k.shape[-2]
    window = min(window, m)
    outputs = []
    for start in range(0, n, window):
        end = min(start + window, n)
        queries = torch.arange(m - n + start, m - n + end, device=q.device)
        first = max(0, m - n + start - window)
        last = m - n + end
        keys = torch.arange(first, last, device=q.device)
        distance = queries[:, None] - keys[None, :]
        visible = (distance >= 0) & (distance <= window)  # wrong
        scores = q[:, :, start:end] @ k[:, :, first:last].transpose(-2, -1) / d_k**0.5
        weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
        outputs.append(weights @ v[:, :, first:last])
    return torch.cat(outputs, dim=2)
