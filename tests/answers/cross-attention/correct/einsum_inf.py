import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_v if d_v is not None else d_k
        d_context = d_context if d_context is not None else d_model
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        logits = torch.einsum("bnd,bmd->bnm", self.W_q(x_q), self.W_k(x_kv))
        logits = logits / (self.W_k.out_features**0.5)
        if mask is None:
            attn = logits.softmax(-1)
        else:
            attn = torch.where(mask, logits, float("-inf")).softmax(-1)
            attn = torch.where(mask, attn, 0.0)
        return torch.einsum("bnm,bme->bne", attn, self.W_v(x_kv)), attn
