# family: contract
# mistake: groups-not-checked
# Checks n_kv_heads against d_model instead of n_heads.
import torch
from torch import nn


def repeat_kv(x, n_rep):
    """Llama's: (B, G, S, d) -> (B, G * n_rep, S, d)"""
    b, g, s, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None].expand(b, g, n_rep, s, d).reshape(b, g * n_rep, s, d)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        if d_model % n_kv_heads != 0:  # wrong
            raise ValueError("n_heads must be divisible by n_kv_heads")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.n_rep = n_heads // n_kv_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        bsz, seqlen, _ = x.shape
        xq = self.W_q(x).view(bsz, seqlen, self.n_heads, self.d_head).transpose(1, 2)
        xk = self.W_k(x).view(bsz, seqlen, self.n_kv_heads, self.d_head).transpose(1, 2)
        xv = self.W_v(x).view(bsz, seqlen, self.n_kv_heads, self.d_head).transpose(1, 2)
        keys, values = repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)
        scores = torch.matmul(xq, keys.transpose(2, 3)) * self.d_head**-0.5
        if mask is not None:
            if mask.ndim == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        output = torch.matmul(weights, values).transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.W_o(output), weights
