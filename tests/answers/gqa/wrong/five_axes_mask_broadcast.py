# family: mask
# mistake: mask-over-groups
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError("sizes")
        self.g, self.r, self.d = n_kv_heads, n_heads // n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.W_q(x).unflatten(-1, (self.g, self.r, self.d))
        k = self.W_k(x).unflatten(-1, (self.g, self.d))
        v = self.W_v(x).unflatten(-1, (self.g, self.d))
        scores = torch.einsum("bngrd,bmgd->bgrnm", q, k) * self.d**-0.5
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            elif mask.dim() == 4 and mask.size(1) == self.g * self.r:
                mask = mask.unflatten(1, (self.g, self.r))
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_o(torch.einsum("bgrnm,bmgd->bngrd", w, v).flatten(2)), w.flatten(1, 2)
