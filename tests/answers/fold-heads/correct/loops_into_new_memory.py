from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    batch, length, d_model = x.size()
    d_head = d_model // n_heads
    if d_head * n_heads != d_model:
        raise ValueError("d_model % n_heads != 0")
    folded = x.new_zeros(batch * n_heads, length, d_head)
    for b in range(batch):
        for h in range(n_heads):
            folded[b * n_heads + h] = x[b, :, h * d_head : (h + 1) * d_head]
    return folded


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    rows, length, d_head = x.size()
    unfolded = x.new_empty(rows // n_heads, length, n_heads * d_head)
    for row in range(rows):
        b, h = divmod(row, n_heads)
        unfolded[b, :, h * d_head : (h + 1) * d_head] = x[row]
    return unfolded


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    if valid_lens is None:
        return valid_lens
    repeated = valid_lens.new_empty((valid_lens.size(0) * n_heads, *valid_lens.shape[1:]))
    for h in range(n_heads):
        repeated[h::n_heads] = valid_lens
    return repeated
