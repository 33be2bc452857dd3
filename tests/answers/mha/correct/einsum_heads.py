import torch
from torch import einsum, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.h = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias) for _ in range(4))
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        Q, K, V = (f(t).unflatten(-1, (self.h, -1)) for f, t in ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        logits = einsum("bnhd,bmhd->bhnm", Q, K) * Q.size(-1) ** -0.5
        if mask is not None:
            mask = mask[:, None] if mask.ndim == 3 else mask
            logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
        attn = logits.softmax(-1)
        if mask is not None:
            attn = attn * mask
        dropped = nn.functional.dropout(attn, self.p, self.training)
        out = einsum("bhnm,bmhd->bnhd", dropped, V)
        return self.W_o(out.flatten(-2)), attn
