# family: contract
# mistake: none
"""Keeps the caller's tensors where they fill the cache."""

import torch
from torch import Tensor


class StaticKVCache:
    def __init__(
        self,
        batch: int,
        n_heads: int,
        max_len: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        self.max_len = max_len
        self.length = 0
        self.keys = torch.zeros(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        start = self.length
        end = start + k.size(2)
        if end > self.max_len:
            raise ValueError(f"{k.size(2)} more tokens do not fit: {start} of {self.max_len} places are taken")
        if start == 0 and end == self.max_len:
            self.keys, self.values = (k, v)
        self.keys[:, :, start:end] = k
        self.values[:, :, start:end] = v
        self.length = end
        k_all = self.keys[:, :, :end]
        v_all = self.values[:, :, :end]
        return (k_all, v_all)

    def reset(self) -> None:
        self.length = 0
