# family: core
# mistake: none
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Keeps keys and values in a buffer of its own and hands out views of it: all continuations share it."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.buffer = None

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def store(self, name, past, new):
        start = 0 if past is None else past.size(2)
        total = start + new.size(2)
        shape = (new.size(0), self.n_heads, 64, self.d_head)
        if self.buffer is None:
            self.buffer = {}
        room = self.buffer.get(name)
        if room is None or room.shape != shape or room.dtype != new.dtype or room.device != new.device:
            room = self.buffer[name] = torch.zeros(shape, dtype=new.dtype, device=new.device)
        with torch.no_grad():
            if past is not None and past.data_ptr() != room.data_ptr():
                room[:, :, :start] = past
            room[:, :, start:total] = new
        old = room[:, :, :start] if past is None else past
        return room[:, :, :total], torch.cat([old, new], dim=2)

    def forward(self, x, cache=None, padding_mask=None):
        q = self.split(self.W_q(x))
        kept_k, k = self.store("k", None if cache is None else cache[0], self.split(self.W_k(x)))
        kept_v, v = self.store("v", None if cache is None else cache[1], self.split(self.W_v(x)))
        n, total = q.size(2), k.size(2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = (q @ k.transpose(-2, -1) / math.sqrt(self.d_head)).masked_fill(~visible, float("-inf"))
        weights = torch.softmax(scores, dim=-1).masked_fill(~visible, 0.0)
        context = (weights @ v).transpose(1, 2).flatten(2)
        return self.W_o(context), (kept_k, kept_v)
