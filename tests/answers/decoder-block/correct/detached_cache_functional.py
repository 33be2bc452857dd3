from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class KV(NamedTuple):
    keys: Tensor
    values: Tensor


class BlockOutput(NamedTuple):
    output: Tensor
    cache: KV


class Weights(nn.Module):
    def __init__(self, **layers):
        super().__init__()
        for name, (fan_in, fan_out) in layers.items():
            setattr(self, name, nn.Linear(fan_in, fan_out))


def linear(layer, x):
    return F.linear(x, layer.weight, layer.bias)


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        if d_model % n_heads != 0:
            raise ValueError("heads do not fit")
        super().__init__()
        square = (d_model, d_model)
        self.self_attn = Weights(W_q=square, W_k=square, W_v=square, W_o=square)
        self.cross_attn = Weights(W_q=square, W_k=square, W_v=square, W_o=square)
        self.ffn = Weights(dense1=(d_model, d_ff), dense2=(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.n_heads, self.d_model, self.p = n_heads, d_model, dropout

    def kv(self, weights, x):
        packed = F.linear(
            x, torch.cat([weights.W_k.weight, weights.W_v.weight]), torch.cat([weights.W_k.bias, weights.W_v.bias])
        )
        packed = packed.view(x.size(0), x.size(1), 2, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        return KV(packed[0], packed[1])

    def attend(self, weights, x, kv, keep):
        q = linear(weights.W_q, x).view(x.size(0), x.size(1), self.n_heads, -1).permute(0, 2, 1, 3)
        scores = torch.matmul(q, kv.keys.permute(0, 1, 3, 2)).div(q.size(-1) ** 0.5)
        if keep is not None:
            blind = torch.logical_not(keep).all(dim=-1, keepdim=True)
            scores = scores.masked_fill(torch.logical_not(keep), float("-inf")).masked_fill(blind, 0.0)
            weights_ = scores.softmax(-1).masked_fill(blind, 0.0)
        else:
            weights_ = scores.softmax(-1)
        context = torch.matmul(F.dropout(weights_, self.p, self.training), kv.values)
        return linear(weights.W_o, context.permute(0, 2, 1, 3).reshape(x.shape))

    def residual(self, norm, x, y):
        y = F.dropout(y, self.p, self.training)
        return F.layer_norm(x + y, (self.d_model,), norm.weight, norm.bias)

    def forward(self, x, memory, cache=None, memory_mask=None):
        kv = self.kv(self.self_attn, x)
        if cache is not None:
            old_keys, old_values = cache
            kv = KV(torch.cat([old_keys.detach(), kv.keys], 2), torch.cat([old_values.detach(), kv.values], 2))
        n, T = x.size(1), kv.keys.size(2)
        causal = ~torch.triu(torch.ones(n, T, dtype=torch.bool, device=x.device), diagonal=T - n + 1)
        x = self.residual(self.norm1, x, self.attend(self.self_attn, x, kv, causal))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None, :, :]
        x = self.residual(self.norm2, x, self.attend(self.cross_attn, x, self.kv(self.cross_attn, memory), memory_mask))
        x = self.residual(self.norm3, x, linear(self.ffn.dense2, linear(self.ffn.dense1, x).relu()))
        return BlockOutput(x, KV(kv.keys.detach(), kv.values.detach()))
