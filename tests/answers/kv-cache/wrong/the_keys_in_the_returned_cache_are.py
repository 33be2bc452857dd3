# family: core
# mistake: cached-keys-scaled
# The keys in the returned cache are already divided by sqrt(d_head); they have to be W_k(x), nothing scaled.
import torch
import torch.nn as nn
from torch.nn import functional as F


class CachedSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.n_head = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, C = x.size()
        hs = C // self.n_head
        q = self.W_q(x).view(B, n, self.n_head, hs).transpose(1, 2) # (B, nh, n, hs)
        k = self.W_k(x).view(B, n, self.n_head, hs).transpose(1, 2) / hs ** 0.5  # wrong
        v = self.W_v(x).view(B, n, self.n_head, hs).transpose(1, 2) # (B, nh, n, hs)
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        T = k.size(2)
        att = q @ k.transpose(-2, -1) # (B, nh, n, T)  # wrong
        visible = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        att = F.softmax(att.masked_fill(~visible, float('-inf')), dim=-1)
        att = att.masked_fill(~visible, 0.0)
        y = (att @ v).transpose(1, 2).reshape(B, n, C)
        return self.W_o(y), (k, v)
