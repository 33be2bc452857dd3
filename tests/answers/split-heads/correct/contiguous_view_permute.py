from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, S, D = x.shape
    if D % n_heads != 0:
        raise ValueError(f"cannot split {D} features into {n_heads} heads")
    return x.contiguous().view(B, S, n_heads, D // n_heads).permute(0, 2, 1, 3).contiguous()


def concat_heads(x: Tensor) -> Tensor:
    B, H, S, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, S, H * d)
