import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        self.H = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def split(self, x):
        B, S, D = x.shape
        return x.view(B, S, self.H, D // self.H).transpose(1, 2).contiguous()

    def look(self, q, k, v, keep=None):
        s = torch.einsum("bhd,bhmd->bhm", q, k) / k.shape[-1] ** 0.5
        if keep is not None:
            s = torch.where(keep, s, -torch.inf)
            w = torch.where(keep, torch.softmax(s, -1), torch.zeros_like(s))
        else:
            w = torch.softmax(s, -1)
        return torch.einsum("bhm,bhmd->bhd", self.drop(w), v).flatten(1)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = self.dense1(x)
        return self.dense2(h * (h > 0))


class DecoderBlock(nn.Module):
    """One query at a time; each is given exactly the keys that it may see."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = Heads(d_model, n_heads, dropout)
        self.cross_attn = Heads(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = [nn.LayerNorm(d_model) for _ in range(3)]
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        me, other = self.self_attn, self.cross_attn
        k, v, past = me.split(me.W_k(x)), me.split(me.W_v(x)), 0
        if cache is not None:
            past = cache[0].shape[2]
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        q = me.split(me.W_q(x))
        rows = [me.look(q[:, :, i], k[:, :, : past + i + 1], v[:, :, : past + i + 1]) for i in range(x.shape[1])]
        x = self.norm1(x + self.drop(me.W_o(torch.stack(rows, 1))))

        mk, mv, q = other.split(other.W_k(memory)), other.split(other.W_v(memory)), other.split(other.W_q(x))
        if memory_mask is None:
            rows = [other.look(q[:, :, i], mk, mv) for i in range(x.shape[1])]
        else:
            mask = memory_mask if memory_mask.dim() != 3 else memory_mask[:, None]
            mask = mask.expand(x.shape[0], other.H, x.shape[1], memory.shape[1])
            rows = [other.look(q[:, :, i], mk, mv, mask[:, :, i]) for i in range(x.shape[1])]
        x = self.norm2(x + self.drop(other.W_o(torch.stack(rows, 1))))
        x = self.norm3(x + self.drop(self.ffn(x)))
        return x, (k, v)
