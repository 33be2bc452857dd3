# family: core
# mistake: leak-in-evaluation
# Causal in training only (as in d2l), several tokens at once in evaluation see the future.
import torch
from torch import nn
from torch.nn import functional as F


class DotProductAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(num_hiddens, num_hiddens)
        self.W_k = nn.Linear(num_hiddens, num_hiddens)
        self.W_v = nn.Linear(num_hiddens, num_hiddens)
        self.W_o = nn.Linear(num_hiddens, num_hiddens)

    def transpose_qkv(self, X):
        return X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)

    def attend(self, queries, keys, values, mask):
        scores = torch.matmul(queries, keys.transpose(2, 3)) / queries.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        out = torch.matmul(self.dropout(weights), values).permute(0, 2, 1, 3)
        return self.W_o(out.reshape(out.shape[0], out.shape[1], -1))


class PositionWiseFFN(nn.Module):
    def __init__(self, num_hiddens, ffn_num_hiddens):
        super().__init__()
        self.dense1 = nn.Linear(num_hiddens, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, num_hiddens)

    def forward(self, X):
        return self.dense2(F.relu(self.dense1(X)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.self_attn = DotProductAttention(d_model, n_heads, dropout)
        self.cross_attn = DotProductAttention(d_model, n_heads, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        sa, ca = self.self_attn, self.cross_attn
        keys, values = sa.transpose_qkv(sa.W_k(x)), sa.transpose_qkv(sa.W_v(x))
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            keys = torch.cat((cache[0], keys), dim=2)
            values = torch.cat((cache[1], values), dim=2)
        if self.training:  # wrong
            num_steps = x.shape[1]
            rows = torch.arange(past, past + num_steps, device=x.device)
            dec_mask = torch.arange(past + num_steps, device=x.device)[None, :] <= rows[:, None]
        else:
            dec_mask = None
        X2 = sa.attend(sa.transpose_qkv(sa.W_q(x)), keys, values, dec_mask)
        Y = self.norm1(x + self.dropout(X2))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None]
        mk, mv = ca.transpose_qkv(ca.W_k(memory)), ca.transpose_qkv(ca.W_v(memory))
        Y2 = ca.attend(ca.transpose_qkv(ca.W_q(Y)), mk, mv, memory_mask)
        Z = self.norm2(Y + self.dropout(Y2))
        return self.norm3(Z + self.dropout(self.ffn(Z))), (keys, values)
