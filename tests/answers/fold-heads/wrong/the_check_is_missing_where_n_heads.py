# family: contract
# mistake: leftover-features-dropped
# The check is missing: where n_heads does not divide d_model the entries are shuffled, without a ValueError.
from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    number_of_sequences, number_of_tokens, width = x.shape
    width_of_a_head = width // n_heads  # wrong
    leftover = width - n_heads * width_of_a_head
    used = x.narrow(2, 0, width - leftover)
    heads_apart = used.reshape(number_of_sequences, number_of_tokens, n_heads, width_of_a_head)
    heads_before_tokens = heads_apart.transpose(1, 2)
    number_of_rows = number_of_sequences * n_heads
    return heads_before_tokens.reshape(number_of_rows, number_of_tokens, width_of_a_head)


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    number_of_rows, number_of_tokens, width_of_a_head = x.shape
    number_of_sequences = number_of_rows // n_heads
    heads_apart = x.reshape(number_of_sequences, n_heads, number_of_tokens, width_of_a_head)
    heads_behind_tokens = heads_apart.transpose(1, 2)
    width = n_heads * width_of_a_head
    return heads_behind_tokens.reshape(number_of_sequences, number_of_tokens, width)


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    if valid_lens is None:
        return None
    repeated = valid_lens.repeat_interleave(n_heads, dim=0)
    return repeated
