# family: core
# mistake: none
# The whole reserved memory of the values is returned, with the places that are not filled.
import torch
from torch import Tensor


class StaticKVCache:
    """Preallocated cache."""

    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        def reserve() -> Tensor:
            return torch.zeros((batch, n_heads, max_len, d_head), dtype=dtype, device=device)

        self.k_cache = reserve()
        self.v_cache = reserve()
        self.capacity = max_len
        self.length: int = 0

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        n_new = k.shape[-2]
        if self.length + n_new > self.capacity:
            raise ValueError("does not fit")
        place = slice(self.length, self.length + n_new)
        self.k_cache[:, :, place, :] = k.detach()
        self.v_cache[:, :, place, :] = v.detach()
        self.length += n_new
        k_all = self.k_cache[:, :, : self.length]
        v_all = self.v_cache  # wrong
        return k_all, v_all

    def reset(self) -> None:
        self.length = 0
