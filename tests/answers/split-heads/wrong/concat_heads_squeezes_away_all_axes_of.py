# family: core
# mistake: none
# Concat_heads squeezes away all axes of size 1, not only the one of the head.
import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """A list of slices, stacked."""
    width, rest = divmod(x.size(2), n_heads)
    if rest != 0:
        raise ValueError(f"cannot share {x.size(2)} features among {n_heads} heads")
    slices = [x[:, :, h * width : (h + 1) * width] for h in range(n_heads)]
    return torch.stack(slices, dim=1)


def concat_heads(x: Tensor) -> Tensor:
    """The slices side by side again."""
    slices = [head.squeeze() for head in x.split(1, dim=1)]  # wrong
    return torch.cat(slices, dim=-1)
