# family: core
# mistake: none
# Where a token sees no memory the result behind W_o is set to 0, so the bias of W_o is lost there.
"""Decoder block, explicit style: every step has its line."""

import torch
from torch import nn


class Projections(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if n_heads < 1:
            raise ValueError("there has to be a head")
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.self_attn = Projections(d_model)
        self.cross_attn = Projections(d_model)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def to_heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.n_heads, self.d_head).transpose(1, 2)

    def from_heads(self, t):
        t = t.transpose(1, 2)
        return t.reshape(t.shape[0], t.shape[1], self.n_heads * self.d_head)

    def weights(self, q, k, visible):
        scores = torch.matmul(q * self.d_head**-0.5, k.transpose(2, 3))
        alone = ~visible.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~(visible | alone), float("-inf"))
        w = torch.softmax(scores, dim=-1)
        return w.masked_fill(~visible, 0.0)

    def forward(self, x, memory, cache=None, memory_mask=None):
        # --- causal self-attention ---
        q = self.to_heads(self.self_attn.W_q(x))
        k = self.to_heads(self.self_attn.W_k(x))
        v = self.to_heads(self.self_attn.W_v(x))
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        rows = torch.arange(x.shape[1], device=x.device).unsqueeze(1) + past
        columns = torch.arange(k.shape[2], device=x.device).unsqueeze(0)
        w = self.drop(self.weights(q, k, columns <= rows))
        a = self.self_attn.W_o(self.from_heads(torch.matmul(w, v)))
        y = self.norm1(x + self.drop(a))

        # --- cross-attention ---
        q = self.to_heads(self.cross_attn.W_q(y))
        mk = self.to_heads(self.cross_attn.W_k(memory))
        mv = self.to_heads(self.cross_attn.W_v(memory))
        if memory_mask is None:
            memory_mask = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool, device=x.device)
        if memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        visible = memory_mask.expand(x.shape[0], self.n_heads, x.shape[1], memory.shape[1])
        w = self.drop(self.weights(q, mk, visible))
        c = self.cross_attn.W_o(self.from_heads(torch.matmul(w, mv)))
        sees = visible.any(dim=-1).any(dim=1).unsqueeze(-1)
        c = c.masked_fill(~sees, 0.0)  # wrong
        z = self.norm2(y + self.drop(c))

        # --- feed-forward ---
        hidden = torch.relu(self.ffn.dense1(z))
        f = self.ffn.dense2(hidden)
        return self.norm3(z + self.drop(f)), (k, v)
