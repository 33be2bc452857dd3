from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn


class Projections(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} % {n_heads} != 0")
        self.cfg = SimpleNamespace(h=n_heads, dh=d_model // n_heads)
        self.self_attn, self.cross_attn = Projections(d_model), Projections(d_model)
        self.ffn = nn.Module()
        self.ffn.dense1 = nn.Linear(d_model, d_ff)
        self.ffn.dense2 = nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def fold(self, t):
        b, s, _ = t.shape
        return t.view(b, s, self.cfg.h, self.cfg.dh).transpose(1, 2).reshape(b * self.cfg.h, s, self.cfg.dh)

    def attention(self, layer, x, k, v, keep):
        b, n, d = x.shape
        wide = torch.promote_types(x.dtype, torch.float32)
        q = self.fold(layer.W_q(x))
        k, v = k.reshape(b * self.cfg.h, -1, self.cfg.dh), v.reshape(b * self.cfg.h, -1, self.cfg.dh)
        logits = torch.bmm(q.to(wide), k.to(wide).transpose(1, 2)) * self.cfg.dh**-0.5
        if keep is not None:
            while keep.dim() < 4:
                keep = keep.unsqueeze(-3) if keep.dim() == 3 else keep.unsqueeze(0)
            keep = keep.expand(b, self.cfg.h, n, k.size(1)).reshape(logits.shape)
            bias = torch.zeros_like(logits).masked_fill(~keep, torch.finfo(wide).min / 4)
            weights = torch.softmax(torch.where(keep, logits, 0.0) + bias, dim=-1) * keep.to(wide)
        else:
            weights = torch.softmax(logits, dim=-1)
        out = torch.bmm(self.dropout(weights.to(x.dtype)), v)
        return layer.W_o(out.view(b, self.cfg.h, n, self.cfg.dh).transpose(1, 2).reshape(b, n, d))

    def forward(self, x, memory, cache=None, memory_mask=None):
        b, n, _ = x.shape
        k = self.fold(self.self_attn.W_k(x)).view(b, self.cfg.h, n, self.cfg.dh)
        v = self.fold(self.self_attn.W_v(x)).view(b, self.cfg.h, n, self.cfg.dh)
        if cache is not None:
            old_k, old_v = cache
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        total = k.size(2)
        keep = torch.arange(total, device=x.device).expand(n, total) <= torch.arange(total - n, total, device=x.device)[:, None]
        x = self.norm1(x + self.dropout(self.attention(self.self_attn, x, k, v, keep)))
        mk, mv = self.fold(self.cross_attn.W_k(memory)), self.fold(self.cross_attn.W_v(memory))
        x = self.norm2(x + self.dropout(self.attention(self.cross_attn, x, mk, mv, memory_mask)))
        x = self.norm3(x + self.dropout(self.ffn.dense2(F.relu(self.ffn.dense1(x)))))
        return x, (k, v)
