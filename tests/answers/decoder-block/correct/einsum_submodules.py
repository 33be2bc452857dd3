import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, h, p):
        super().__init__()
        if d_model % h:
            raise ValueError("d_model must be a multiple of n_heads")
        self.h, self.p = h, p
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def heads(self, t):
        return t.unflatten(2, (self.h, -1)).permute(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        q = self.heads(self.W_q(q))
        s = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            a = torch.where(mask, s, torch.finfo(s.dtype).min).softmax(-1)
            a = torch.where(mask, a, 0.0)
        a = F.dropout(a, self.p, self.training)
        return self.W_o(torch.einsum("bhij,bhjd->bihd", a, v).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff, p):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.dense2(self.drop(F.relu(self.dense1(x))))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        k, v = (self.self_attn.heads(w(x)) for w in (self.self_attn.W_k, self.self_attn.W_v))
        past = 0
        if cache is not None:
            past = cache[0].size(-2)
            k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
        q_pos = torch.arange(past, past + x.size(1), device=x.device)
        k_pos = torch.arange(k.size(-2), device=x.device)
        x = self.norm1(x + self.drop(self.self_attn(x, k, v, k_pos <= q_pos[:, None])))
        if memory_mask is not None:
            if memory_mask.dim() == 3:
                memory_mask = memory_mask[:, None]
        mk, mv = (self.cross_attn.heads(w(memory)) for w in (self.cross_attn.W_k, self.cross_attn.W_v))
        x = self.norm2(x + self.drop(self.cross_attn(x, mk, mv, memory_mask)))
        return self.norm3(x + self.drop(self.ffn(x))), (k, v)
