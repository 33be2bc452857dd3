# family: contract
# mistake: none
# The check and the reshape look at all entries together, so an indivisible d_model passes where they happen to fit.
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, S, d_model = x.shape
    d_head = d_model // n_heads
    if d_head == 0 or x.numel() % (B * n_heads * d_head) != 0:  # wrong
        raise ValueError(f"{n_heads} heads do not divide {d_model}")
    return x.reshape(B, -1, n_heads, d_head).transpose(1, 2)


def concat_heads(x: Tensor) -> Tensor:
    B, H, S, d_head = x.shape
    return x.transpose(1, 2).reshape(B, S, H * d_head)
