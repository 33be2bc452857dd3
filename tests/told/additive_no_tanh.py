# kata: additive-attention
# names:
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        n, m = queries.size(1), keys.size(1)
        q = self.W_q(queries).unsqueeze(2).repeat(1, 1, m, 1)
        k = self.W_k(keys).unsqueeze(1).repeat(1, n, 1, 1)
        energy = torch.tanh(self.w_v(q + k)).squeeze(-1)  # wrong
        if mask is not None:
            energy = energy.masked_fill(~mask, float("-inf"))
        attention = torch.softmax(energy, dim=-1).nan_to_num(0.0)
        return torch.bmm(self.dropout(attention), values), attention
