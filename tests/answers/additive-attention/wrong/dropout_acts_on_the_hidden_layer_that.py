# family: core
# mistake: dropout-on-scores
# Dropout acts on the hidden layer that compares queries and keys, not on the attention weights.
import torch
import torch.nn.functional as F
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.p = dropout

    def forward(self, queries, keys, values, mask=None):
        hidden = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        hidden = F.dropout(hidden, self.p, self.training)  # wrong
        scores = torch.einsum("bnmh,h->bnm", hidden, self.w_v.weight[0])
        if mask is None:
            weights = torch.softmax(scores, -1)
        else:
            mask = mask.broadcast_to(scores.shape)
            blind = ~mask.any(-1, keepdim=True)
            weights = torch.softmax(scores.masked_fill(~(mask | blind), -torch.inf), -1) * mask
        return torch.einsum("bnm,bmv->bnv", weights, values), weights
