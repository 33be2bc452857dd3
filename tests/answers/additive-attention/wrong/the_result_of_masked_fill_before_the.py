# family: core
# mistake: masked-after-softmax
# The result of masked_fill before the softmax is thrown away, so hidden keys take their share of the weight.
import torch
import torch.nn as nn
import torch.nn.functional as F


class AdditiveAttention(nn.Module):

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        q = self.W_q(queries) # (B, n, h)
        k = self.W_k(keys) # (B, m, h)
        att = self.w_v(torch.tanh(q[:, :, None, :] + k[:, None, :, :]))[..., 0] # (B, n, m)
        if mask is not None:
            att.masked_fill(~mask, float('-inf'))  # wrong
        att = F.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(~mask, 0.0)
        y = self.attn_dropout(att) @ values # (B, n, m) x (B, m, d_v) -> (B, n, d_v)
        return y, att
