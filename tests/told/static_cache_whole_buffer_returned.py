# kata: static-cache
# names: whole-buffer-returned
from typing import Optional, Tuple, Union

import torch
from torch import Tensor


class StaticKVCache:
    def __init__(
        self,
        batch: int,
        n_heads: int,
        max_len: int,
        d_head: int,
        dtype: Optional[torch.dtype] = None,
        device: Optional[Union[torch.device, str]] = None,
    ) -> None:
        self.max_cache_len = max_len
        cache_shape = (batch, n_heads, max_len, d_head)
        self.key_cache = torch.zeros(cache_shape, dtype=dtype, device=device)
        self.value_cache = torch.zeros(cache_shape, dtype=dtype, device=device)
        self._seen_tokens = 0

    @property
    def length(self) -> int:
        return self._seen_tokens

    def update(self, k: Tensor, v: Tensor) -> Tuple[Tensor, Tensor]:
        new_tokens = k.shape[-2]
        if self._seen_tokens + new_tokens > self.max_cache_len:
            raise ValueError(
                f"StaticKVCache holds {self.max_cache_len} tokens, got {self._seen_tokens} + {new_tokens}."
            )
        cache_position = torch.arange(
            self._seen_tokens, self._seen_tokens + new_tokens, device=self.key_cache.device
        )
        self.key_cache.index_copy_(2, cache_position, k.detach())
        self.value_cache.index_copy_(2, cache_position, v.detach())
        self._seen_tokens += new_tokens
        return self.key_cache, self.value_cache  # wrong

    def reset(self) -> None:
        self._seen_tokens = 0
