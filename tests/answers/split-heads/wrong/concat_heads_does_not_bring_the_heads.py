# family: core
# mistake: concat-without-transpose
# Concat_heads does not bring the heads beside the features before it reshapes.
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    d_model = x.shape[-1]
    if n_heads <= 0 or d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.unflatten(-1, (n_heads, d_model // n_heads)).permute(0, 2, 1, 3)


def concat_heads(x: Tensor) -> Tensor:
    batch_size, n_heads, length, d_head = x.shape
    d_model = n_heads * d_head
    together = x.reshape(batch_size, length, d_model)  # wrong
    return together
