# family: core
# mistake: dropout-on-output
# Dropout acts on the output of W_o instead of the attention weights.
import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        Q, K, V = self.W_q(q), self.W_k(k), self.W_v(v)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        scores = torch.stack(
            [a @ b.transpose(1, 2) for a, b in zip(Q.split(self.d_head, -1), K.split(self.d_head, -1))], dim=1
        )
        scores = scores / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = [weights[:, h] @ part for h, part in enumerate(V.split(self.d_head, -1))]
        return self.dropout(self.W_o(torch.cat(heads, dim=-1))), weights  # wrong
