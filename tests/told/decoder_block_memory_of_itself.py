# kata: decoder-block
# names: query-from-the-start
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def attend(self, q, k, v, mask=None):
        s = torch.einsum("bhnd,bhmd->bhnm", q, k) / q.size(-1) ** 0.5
        if mask is None:
            w = s.softmax(-1)
        else:
            w = s.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        return self.W_o(torch.einsum("bhnm,bhmd->bnhd", self.drop(w), v).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn, self.cross_attn = MHA(d_model, n_heads, dropout), MHA(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        sa, ca = self.self_attn, self.cross_attn
        q, k, v = sa.heads(sa.W_q(x)), sa.heads(sa.W_k(x)), sa.heads(sa.W_v(x))
        if cache is not None:
            k = torch.cat([cache[0], k], 2)
            v = torch.cat([cache[1], v], 2)
        pos = torch.arange(k.size(2), device=x.device)
        causal = pos[None, :] <= pos[-x.size(1):, None]
        y = self.norm1(x + self.dropout(sa.attend(q, k, v, causal)))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None]
        q2, k2, v2 = ca.heads(ca.W_q(x)), ca.heads(ca.W_k(memory)), ca.heads(ca.W_v(memory))  # wrong
        z = self.norm2(y + self.dropout(ca.attend(q2, k2, v2, memory_mask)))
        return self.norm3(z + self.dropout(self.ffn(z))), (k, v)
