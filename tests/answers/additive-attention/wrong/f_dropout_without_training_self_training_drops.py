# family: core
# mistake: dropout-in-evaluation
# F.dropout without training=self.training drops in evaluation too.
import torch
import torch.nn.functional as F
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, queries, keys, values, mask=None):
        pairs = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
        scores = self.w_v(pairs.tanh())[..., 0]
        if mask is not None:
            w = F.softmax(scores.masked_fill(~mask, -torch.inf), -1).masked_fill(~mask, 0.0)
        else:
            w = F.softmax(scores, -1)
        return F.dropout(w, self.p) @ values, w  # wrong
