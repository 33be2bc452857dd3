# family: contract
# mistake: assert-for-arguments
# A number of heads that does not divide the width fails an assertion instead of raising ValueError.
import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    C = x.size(2)
    assert n_heads > 0 and C % n_heads == 0  # wrong
    return torch.stack(x.split(C // n_heads, dim=2), dim=1)


def concat_heads(x: Tensor) -> Tensor:
    return torch.cat(x.unbind(1), dim=-1)
