# kata: mha
# names: scale-d-model
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("embed size needs to be divisible by heads")
        self.embed_size, self.heads, self.head_dim = d_model, n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        N, query_len, key_len = q.shape[0], q.shape[1], k.shape[1]
        queries = self.W_q(q).reshape(N, query_len, self.heads, self.head_dim)
        keys = self.W_k(k).reshape(N, key_len, self.heads, self.head_dim)
        values = self.W_v(v).reshape(N, key_len, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            energy = energy.masked_fill(mask == 0, float("-inf"))
        attention = torch.softmax(energy / (self.embed_size ** (1 / 2)), dim=3)  # wrong
        if mask is not None:
            attention = attention.masked_fill(mask == 0, 0.0)
        out = torch.einsum("nhql,nlhd->nqhd", [self.drop(attention), values]).reshape(N, query_len, self.embed_size)
        return self.W_o(out), attention
