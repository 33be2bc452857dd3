# family: core
# mistake: fold-heads-outermost
# The rows lie head by head (row h * B + b), where those of a sequence belong side by side.
import torch
from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    B, S, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError(f"{n_heads} heads do not divide {d_model}")
    heads = x.chunk(n_heads, dim=-1)
    return torch.cat(heads, dim=0)  # wrong


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    rows, S, d_head = x.shape
    x = x.reshape(rows // n_heads, n_heads, S, d_head)
    return x.transpose(1, 2).reshape(rows // n_heads, S, n_heads * d_head)


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    if valid_lens is None:
        return None
    return valid_lens.repeat_interleave(n_heads, dim=0)
