# family: core
# mistake: last-place-refused
# Tokens that fill the cache exactly are refused.
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
        with torch.inference_mode(False):
            self.k = torch.empty(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
            self.v = torch.empty(batch, n_heads, max_len, d_head, dtype=dtype, device=device)
        self.max_len = max_len
        self.length = 0

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        end = self.length + k.shape[2]
        if end >= self.max_len:  # wrong
            raise ValueError(f"{end} tokens do not fit into {self.max_len} places")
        self.k[:, :, self.length : end] = k.detach()
        self.v[:, :, self.length : end] = v.detach()
        self.length = end
        return self.k[:, :, :end], self.v[:, :, :end]

    def reset(self) -> None:
        self.length = 0
