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


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.H, self.e = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def split(self, t):
        return t.unflatten(-1, (self.H, self.e)).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        parts = []
        for i in range(0, q.shape[2], 128):
            part = mask if mask is None or q.shape[2] <= 128 else mask[..., i : i + 128, :]  # wrong
            parts.append(attend_weights(q[:, :, i : i + 128] @ k.transpose(-1, -2) / self.e**0.5, part))
        weights = torch.cat(parts, 2)
        context = self.drop(weights) @ v
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
