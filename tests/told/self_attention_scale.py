# kata: self-attention
# names:
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_v or d_k, bias=bias)

    def forward(self, x, mask=None):
        keys = self.W_k(x)
        queries = self.W_q(x)
        values = self.W_v(x)
        attn_scores = queries @ keys.transpose(1, 2)
        if mask is not None:
            attn_scores.masked_fill_(~mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[1] ** 0.5, dim=-1)  # wrong
        if mask is not None:
            attn_weights = attn_weights.masked_fill(~mask, 0.0)
        context_vec = attn_weights @ values
        return context_vec, attn_weights
