# family: grad
# mistake: none
# where W_k is frozen, k gets no gradient
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.h = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def _cut(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def _weigh(self, s, mask):
        if mask is None:
            return s.softmax(-1)
        if mask.dim() == 3:
            mask = mask[:, None]
        keep = mask.expand_as(s)
        s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        return s.softmax(-1).masked_fill(~keep, 0)

    def forward(self, q, k, v, mask=None):
        Q, K, V = self._cut(self.W_q(q)), self._cut(self.W_k(k)), self._cut(self.W_v(v))
        if not self.W_k.weight.requires_grad:
            K = K.detach()
        w = self._weigh(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
        c = self.drop(w) @ V
        return self.W_o(c.transpose(1, 2).flatten(2)), w
