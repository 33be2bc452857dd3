# kata: gqa
# names:
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("sizes")
        self.h, self.g, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        b, s, _ = x.shape
        q = self.W_q(x).view(b, s, self.h // self.g, self.g, self.d)  # wrong
        k = self.W_k(x).view(b, s, self.g, self.d)
        v = self.W_v(x).view(b, s, self.g, self.d)
        scores = torch.einsum("bnrgd,bmgd->bgrnm", q, k) * self.d**-0.5
        scores = scores.reshape(b, self.h, s, s)
        if mask is not None:
            mask = mask if mask.dim() == 4 else mask.view(-1, 1, s, s) if mask.size(-2) == s else mask.unsqueeze(1)
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).nan_to_num()
        out = torch.einsum("bgrnm,bmgd->bnrgd", weights.view(b, self.g, -1, s, s), v)
        return self.W_o(out.reshape(b, s, -1)), weights
