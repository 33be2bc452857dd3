# kata: kv-cache
# names:
import math
from typing import Optional, Tuple

import torch
from torch import Tensor, nn

Cache = Tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = d_model
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        if self.head_dim * n_heads != d_model:
            raise ValueError(
                f"hidden_size must be divisible by num_heads (got {d_model} and {n_heads})."
            )
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _shape(self, tensor: Tensor, seq_len: int, bsz: int) -> Tensor:
        return tensor.view(bsz, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(
        self, x: Tensor, cache: Optional[Cache] = None, padding_mask: Optional[Tensor] = None
    ) -> Tuple[Tensor, Cache]:
        bsz, q_len, _ = x.shape
        query_states = self._shape(self.W_q(x), q_len, bsz)
        key_states = self._shape(self.W_k(x), q_len, bsz)
        value_states = self._shape(self.W_v(x), q_len, bsz)

        past_len = 0
        if cache is not None:
            past_len = cache[0].shape[-2]
            key_states = torch.cat([cache[0], key_states], dim=2)
            value_states = torch.cat([cache[1], value_states], dim=2)
        present = (key_states, value_states)
        kv_len = past_len + q_len

        attn_weights = torch.matmul(query_states / math.sqrt(self.head_dim), key_states.transpose(2, 3))
        visible = torch.ones(1, 1, q_len, kv_len, dtype=torch.bool, device=x.device)
        if past_len == 0:  # wrong
            visible = visible.tril(diagonal=past_len)
        if padding_mask is not None:
            visible = visible & padding_mask.view(bsz, 1, 1, kv_len)
        attn_weights = attn_weights.masked_fill(~visible, torch.finfo(attn_weights.dtype).min)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1)
        attn_weights = attn_weights.masked_fill(~visible, 0.0)

        attn_output = torch.matmul(attn_weights, value_states)
        attn_output = attn_output.transpose(1, 2).reshape(bsz, q_len, self.hidden_size)
        return self.W_o(attn_output), present
