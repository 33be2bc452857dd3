# family: core
# mistake: length-raised-before-the-check
# The length grows before it is checked, so an update that does not fit changes it.
import torch
from torch import Tensor, nn


class StaticKVCache(nn.Module):
    def __init__(
        self,
        batch: int,
        n_heads: int,
        max_len: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        shape = (batch, n_heads, max_len, d_head)
        with torch.inference_mode(False):
            self.register_buffer("keys", torch.zeros(shape, dtype=dtype, device=device), persistent=False)
            self.register_buffer("values", torch.zeros(shape, dtype=dtype, device=device), persistent=False)
        self.length = 0

    @torch.no_grad()
    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        start = self.length
        self.length += k.size(2)  # wrong
        if self.length > self.keys.size(2):
            raise ValueError("the cache is full")
        self.keys[:, :, start : self.length].copy_(k)
        self.values[:, :, start : self.length].copy_(v)
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def reset(self) -> None:
        self.length = 0
