# family: contract
# mistake: groups-not-checked
# It is checked that n_kv_heads divides d_model, not that it divides n_heads.
import torch
import torch.nn.functional as F
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Llama style attention, without positions and cache."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        for heads in (n_heads, n_kv_heads):
            if heads < 1 or d_model % heads != 0:  # wrong
                raise ValueError(f"{heads} heads do not fit a width of {d_model}")
        self.H = n_heads
        self.G = n_kv_heads
        self.d = d_model // n_heads
        kv = self.G * self.d
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, kv, bias)
        self.W_v = nn.Linear(d_model, kv, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        B, S, _ = x.shape
        q = self.W_q(x).view(B, S, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.G, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, S, self.G, self.d).transpose(1, 2)
        # whose keys does head h read?
        owner = torch.arange(self.H, device=x.device) // (self.H // self.G)
        k, v = k[:, owner], v[:, owner]
        s = torch.matmul(q, k.transpose(2, 3)) * self.d**-0.5
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            mask = mask.expand(B, self.H, S, S)
            some = mask.any(-1, keepdim=True)
            s = s.masked_fill(some & ~mask, float("-inf"))
        w = F.softmax(s, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        out = torch.matmul(w, v).transpose(1, 2).reshape(B, S, self.H * self.d)
        return self.W_o(out), w
