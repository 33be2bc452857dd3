# family: mask
# mistake: none
# Queries go in blocks, and a mask of one row is cut into blocks as if it had a row for each query.
import torch
from torch import nn


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    dead = hidden.all(-1, keepdim=True)
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(dead, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if n_heads < 1 or n_kv_heads < 1 or d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("sizes")
        self.H, self.G, self.e = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.e, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.e, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, S, _ = x.shape
        q = self.W_q(x).view(B, S, self.H, self.e).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.G, self.e).transpose(1, 2).repeat_interleave(self.H // self.G, 1)
        v = self.W_v(x).view(B, S, self.G, self.e).transpose(1, 2).repeat_interleave(self.H // self.G, 1)
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        parts = []
        for i in range(0, S, 128):
            part = mask if mask is None or S <= 128 else mask[..., i : i + 128, :]  # wrong
            parts.append(attend_weights(q[:, :, i : i + 128] @ k.transpose(-1, -2) / self.e**0.5, part))
        weights = torch.cat(parts, 2)
        context = (weights @ v).transpose(1, 2).reshape(B, S, -1)
        return self.W_o(context), weights
