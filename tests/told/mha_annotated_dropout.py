# kata: mha
# names: assert-for-arguments, dropped-weights-returned, fill-1e9-only, mask-always-unsqueezed
import copy, math
import torch
from torch import nn

def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])

def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)  # wrong
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)  # wrong
    return torch.matmul(p_attn, value), p_attn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1, bias=True):  # wrong
        "Take in model size and number of heads."
        super().__init__()
        assert d_model % n_heads == 0  # wrong
        # We assume d_v always equals d_k
        self.d_k = d_model // n_heads
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            # Same mask applied to all n_heads heads.
            mask = mask.unsqueeze(1)  # wrong
        nbatches = query.size(0)

        # 1) Do all the linear projections in batch from d_model => n_heads x d_k
        query, key, value = [
            lin(x).view(nbatches, -1, self.n_heads, self.d_k).transpose(1, 2)
            for lin, x in zip((self.W_q, self.W_k, self.W_v), (query, key, value))
        ]

        # 2) Apply attention on all the projected vectors in batch.
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)

        # 3) "Concat" using a view and apply a final linear.
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.n_heads * self.d_k)
        del query
        del key
        del value
        return self.W_o(x), self.attn
