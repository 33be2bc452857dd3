import torch
import torch.nn.functional as F
from torch import einsum, nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q, self.W_k = (nn.Linear(size, num_hiddens, bias=False) for size in (query_size, key_size))
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.p = dropout

    def forward(self, queries, keys, values, mask=None):
        q = F.linear(queries, self.W_q.weight)
        k = F.linear(keys, self.W_k.weight)
        e = einsum("bnmh,h->bnm", (q[:, :, None, :] + k[:, None, :, :]).tanh(), self.w_v.weight[0])
        if mask is not None:
            e = torch.where(mask, e, torch.finfo(e.dtype).min)
        a = F.softmax(e, -1)
        if mask is not None:
            a = a * mask
        return einsum("bnm,bmv->bnv", F.dropout(a, self.p, self.training), values), a
