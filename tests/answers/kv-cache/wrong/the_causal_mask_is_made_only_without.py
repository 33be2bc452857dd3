# family: core
# mistake: chunk-sees-its-future
# The causal mask is made only without a cache, so several new tokens behind a cache see each other's future.
import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(
        self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        q, keys, values = self._split(self.W_q(x)), self._split(self.W_k(x)), self._split(self.W_v(x))
        n = x.shape[1]
        past = 0 if cache is None else cache[0].shape[2]
        if past > 0:
            keys, values = torch.cat([cache[0], keys], dim=2), torch.cat([cache[1], values], dim=2)
        visible = torch.ones(n, past + n, dtype=torch.bool, device=x.device)
        if past == 0:  # wrong
            visible = visible.tril(past)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = torch.einsum("bhnd,bhtd->bhnt", q, keys) / q.shape[-1] ** 0.5
        weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1).masked_fill(~visible, 0.0)
        context = torch.einsum("bhnt,bhtd->bnhd", weights, values)
        return self.W_o(context.flatten(2)), (keys, values)
