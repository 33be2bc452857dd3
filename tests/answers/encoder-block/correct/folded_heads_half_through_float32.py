import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A namespace for layers."""

    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.heads, rest = n_heads, d_model % n_heads
        if rest:
            raise ValueError(f"{rest} features are left over")
        self.attention = Block(**{f"W_{n}": nn.Linear(d_model, d_model) for n in "qkvo"})
        self.addnorm1, self.addnorm2 = Block(ln=nn.LayerNorm(d_model)), Block(ln=nn.LayerNorm(d_model))
        self.ffn = Block(dense1=nn.Linear(d_model, d_ff), dense2=nn.Linear(d_ff, d_model))
        self.p = dropout

    def drop(self, t):
        return F.dropout(t, self.p, training=self.training)

    @staticmethod
    def lin(layer, x):
        return F.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))

    @staticmethod
    def norm(block, x):
        return F.layer_norm(x, x.shape[-1:], block.ln.weight.to(x.dtype), block.ln.bias.to(x.dtype))

    def fold(self, x):
        b, s, d = x.shape
        return x.view(b, s, self.heads, d // self.heads).transpose(1, 2).reshape(b * self.heads, s, d // self.heads)

    def forward(self, x, mask=None):
        given = x.dtype
        x = x.to(torch.promote_types(given, torch.float32))
        b, s, d = x.shape
        q, k, v = (self.fold(self.lin(layer, x)) for layer in (self.attention.W_q, self.attention.W_k, self.attention.W_v))
        bias = torch.zeros(b * self.heads, s, s, dtype=x.dtype, device=x.device)
        blind = None
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            mask = mask.expand(b, self.heads, s, s).reshape(b * self.heads, s, s)
            blind = ~mask.any(-1, keepdim=True)
            bias = bias.masked_fill(~(mask | blind), float("-inf"))
        weights = torch.baddbmm(bias, q, k.mT, alpha=(d // self.heads) ** -0.5).softmax(-1)
        if blind is not None:
            weights = weights.masked_fill(blind, 0.0)
        context = torch.bmm(self.drop(weights), v).view(b, self.heads, s, -1).transpose(1, 2).reshape(b, s, d)
        x = self.norm(self.addnorm1, x + self.drop(self.lin(self.attention.W_o, context)))
        h = self.lin(self.ffn.dense2, F.relu(self.lin(self.ffn.dense1, x)))
        return self.norm(self.addnorm2, x + self.drop(h)).to(given)
