# family: contract
# mistake: calls-torch-attention
import torch
import torch.nn.functional as F
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError("sizes")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        b, s, d = x.shape
        q = self.W_q(x).view(b, s, self.n_heads, -1).transpose(1, 2)
        k = self.W_k(x).view(b, s, self.n_kv_heads, -1).transpose(1, 2)
        v = self.W_v(x).view(b, s, self.n_kv_heads, -1).transpose(1, 2)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        units = torch.eye(s, dtype=x.dtype, device=x.device).expand(b, self.n_kv_heads, s, s)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        weights = F.scaled_dot_product_attention(q, k, units, attn_mask=mask, enable_gqa=True)
        return self.W_o(out.transpose(1, 2).reshape(b, s, d)), weights
