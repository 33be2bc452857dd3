# family: core
# mistake: none
# The third sum is normalised by norm2 again, norm3 is never used.
import torch
import torch.nn.functional as F
from torch import nn


class MHA(nn.Module):
    def __init__(self, d, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))

    def heads(self, t):
        B, S, d = t.shape
        return t.reshape(B, S, self.H, d // self.H).permute(0, 2, 1, 3)

    def forward(self, x, k, v, mask):
        q = self.heads(self.W_q(x))
        s = torch.einsum("bhnd,bhmd->bhnm", q, k) / q.shape[-1] ** 0.5
        mask = mask.broadcast_to(s.shape)
        s = torch.where(mask, s, -torch.inf)
        s = torch.where(mask.any(-1, keepdim=True), s, 0.0)
        w = torch.where(mask, F.softmax(s, -1), 0.0)
        w = F.dropout(w, self.p, self.training)
        c = torch.einsum("bhnm,bhmd->bnhd", w, v)
        return self.W_o(c.reshape(x.shape))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.p = dropout
        self.self_attn = MHA(d_model, n_heads, dropout)
        self.cross_attn = MHA(d_model, n_heads, dropout)
        self.ffn = nn.Module()
        self.ffn.dense1 = nn.Linear(d_model, d_ff)
        self.ffn.dense2 = nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def _drop(self, t):
        return F.dropout(t, self.p, self.training)

    def forward(self, x, memory, cache=None, memory_mask=None):
        sa, ca = self.self_attn, self.cross_attn
        # keys and values of the new tokens go behind the old ones
        k, v = sa.heads(sa.W_k(x)), sa.heads(sa.W_v(x))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        n, T = x.shape[1], k.shape[2]
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(diagonal=T - n)
        y = self.norm1(x + self._drop(sa(x, k, v, causal)))
        # memory
        if memory_mask is None:
            memory_mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)
        if memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None]
        z = self.norm2(y + self._drop(ca(y, ca.heads(ca.W_k(memory)), ca.heads(ca.W_v(memory)), memory_mask)))
        # feed-forward
        f = self.ffn.dense2(F.relu(self.ffn.dense1(z)))
        return self.norm2(z + self._drop(f)), (k, v)  # wrong
