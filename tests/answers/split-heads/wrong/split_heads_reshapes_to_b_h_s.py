# family: core
# mistake: split-without-transpose
# Split_heads reshapes to (B, H, S, d_head) at once, without the transpose, and mixes up tokens and heads.
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, S, d_model = x.shape
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"{n_heads} heads do not divide {d_model} features")
    return x.reshape(B, n_heads, S, d_model // n_heads)  # wrong


def concat_heads(x: Tensor) -> Tensor:
    B, H, S, d_head = x.shape
    return x.transpose(1, 2).reshape(B, S, H * d_head)
