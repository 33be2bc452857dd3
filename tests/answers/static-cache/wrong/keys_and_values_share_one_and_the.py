# family: core
# mistake: one-buffer-for-both
# Keys and values share one and the same memory.
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class _Store:
    keys: Tensor
    values: Tensor

    def write(self, start: int, k: Tensor, v: Tensor) -> None:
        self.keys.narrow(2, start, k.shape[2]).copy_(k.detach())
        self.values.narrow(2, start, v.shape[2]).copy_(v.detach())

    def read(self, length: int) -> tuple[Tensor, Tensor]:
        return self.keys.narrow(2, 0, length), self.values.narrow(2, 0, length)


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
        with torch.inference_mode(False):
            memory = torch.empty((batch, n_heads, max_len, d_head), dtype=dtype, device=device)
        self._store = _Store(keys=memory, values=memory)  # wrong
        self._room = max_len
        self._length = 0

    @property
    def length(self) -> int:
        return self._length

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        n = k.shape[2]
        if n > self._room - self._length:
            raise ValueError(f"room for {self._room - self._length} tokens, not for {n}")
        self._store.write(self._length, k, v)
        self._length += n
        return self._store.read(self._length)

    def reset(self) -> None:
        self._length = 0
