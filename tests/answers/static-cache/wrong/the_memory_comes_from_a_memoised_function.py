# family: core
# mistake: none
# The memory comes from a memoised function, so that two caches of the same size share it.
from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=None)  # wrong
def _reserve(shape, dtype, device):
    return torch.empty(shape, dtype=dtype, device=device), torch.empty(shape, dtype=dtype, device=device)


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None) -> None:
        self.max_len = max_len
        self.length = 0
        self.keys, self.values = _reserve((batch, n_heads, max_len, d_head), dtype, device)

    @torch.no_grad()
    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        end = self.length + k.shape[2]
        if end > self.max_len:
            raise ValueError(f"no room for {k.shape[2]} more tokens")
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def reset(self) -> None:
        self.length = 0
