# family: core
# mistake: d-v-defaults-to-d-model
# The default of d_v is d_model, it should be d_k.
import torch
from torch import nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_context = d_context or d_model
        d_v = d_v or d_model  # wrong
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k, self.W_v = (nn.Linear(d_context, out, bias=bias) for out in (d_k, d_v))

    def forward(self, x_q, x_kv, mask=None):
        q = self.W_q(x_q)
        att = q @ self.W_k(x_kv).mT / q.size(-1) ** 0.5
        if mask is None:
            att = F.softmax(att, dim=-1)
        else:
            att = F.softmax(att.masked_fill(~mask, float("-inf")), dim=-1).masked_fill(~mask, 0.0)
        return att @ self.W_v(x_kv), att
