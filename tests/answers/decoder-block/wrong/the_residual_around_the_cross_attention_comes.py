# family: core
# mistake: residual-from-the-start
# The residual around the cross-attention comes from the block's input x, not from y, the output of norm1.
from typing import NamedTuple

import torch
from torch import Tensor, nn


class KeysValues(NamedTuple):
    keys: Tensor
    values: Tensor


class Heads(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.h = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def _split(self, x: Tensor) -> Tensor:
        b, s, d = x.shape
        return x.reshape(b, s, self.h, d // self.h).permute(0, 2, 1, 3)

    def remember(self, tokens: Tensor) -> KeysValues:
        return KeysValues(self._split(self.W_k(tokens)), self._split(self.W_v(tokens)))

    def forward(self, tokens: Tensor, past: KeysValues, visible: Tensor | None) -> Tensor:
        q = self._split(self.W_q(tokens))
        scores = torch.einsum("bhnd,bhmd->bhnm", q, past.keys) / q.shape[-1] ** 0.5
        if visible is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
            weights = weights.masked_fill(~visible, 0.0)
        context = torch.einsum("bhnm,bhmd->bnhd", self.dropout(weights), past.values)
        return self.W_o(context.reshape(tokens.shape))


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is no multiple of n_heads={n_heads}")
        self.self_attn = Heads(d_model, n_heads, dropout)
        self.cross_attn = Heads(d_model, n_heads, dropout)
        self.ffn = nn.Sequential()
        self.ffn.add_module("dense1", nn.Linear(d_model, d_ff))
        self.ffn.add_module("relu", nn.ReLU())
        self.ffn.add_module("dense2", nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        cache: tuple[Tensor, Tensor] | None = None,
        memory_mask: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        past = self.self_attn.remember(x)
        if cache is not None:
            past = KeysValues(*(torch.cat(pair, dim=2) for pair in zip(cache, past)))
        total = past.keys.shape[2]
        position = torch.arange(total, device=x.device)
        causal = position[total - x.shape[1] :, None] >= position
        y = self.norm1(x + self.dropout(self.self_attn(x, past, causal)))
        if memory_mask is not None and memory_mask.ndim == 3:
            memory_mask = memory_mask[:, None]
        found = self.cross_attn(y, self.cross_attn.remember(memory), memory_mask)
        z = self.norm2(x + self.dropout(found))  # wrong
        return self.norm3(z + self.dropout(self.ffn(z))), (past.keys, past.values)
