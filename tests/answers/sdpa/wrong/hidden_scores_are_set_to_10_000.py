# family: mask
# mistake: fill-1e4
# Hidden scores are set to -10,000, which visible ones may lie below.
import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
    if mask is not None:
        att = att.masked_fill(mask == 0, -1e4)  # wrong
        att = att.masked_fill(~mask.expand(att.shape).any(-1, keepdim=True), 0.0)
    att = att.softmax(dim=-1)
    if mask is not None:
        att = att.masked_fill(mask == 0, 0.0)
    y = att @ v
    return y, att
