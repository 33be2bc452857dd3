# family: core
# mistake: none
# The memory of the values is reserved in the default dtype.
from __future__ import annotations

import torch
from torch import Tensor


class _Store:
    """Memory for one kind of tensor."""

    def __init__(self, memory: Tensor) -> None:
        self.memory = memory

    @property
    def room(self) -> int:
        return self.memory.shape[2]

    def write(self, at: int, x: Tensor) -> Tensor:
        stop = at + x.shape[2]
        self.memory[:, :, at:stop] = x.detach()
        return self.memory[:, :, :stop]


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
        shape = (batch, n_heads, max_len, d_head)
        self._k = _Store(torch.empty(shape, dtype=dtype, device=device))
        self._v = _Store(torch.empty(shape, device=device))  # wrong
        self._length = 0

    @property
    def length(self) -> int:
        return self._length

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        n = k.shape[2]
        if n > self._k.room - self._length:
            raise ValueError(f"{n} tokens, but room for {self._k.room - self._length} only")
        result = self._k.write(self._length, k), self._v.write(self._length, v)
        self._length += n
        return result

    def reset(self) -> None:
        self._length = 0
