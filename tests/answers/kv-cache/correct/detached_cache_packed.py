import torch
import torch.nn.functional as F
from torch import nn


class CachedSelfAttention(nn.Module):
    """For generation: what is kept for the next step carries no graph."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model has to be a multiple of n_heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, d_model = x.shape
        layers = [self.W_q, self.W_k, self.W_v]
        bias = None if self.W_q.bias is None else torch.cat([layer.bias for layer in layers])
        packed = F.linear(x, torch.cat([layer.weight for layer in layers]), bias)
        q, k, v = packed.view(B, n, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k = torch.cat([cache[0].detach(), k], dim=2)
            v = torch.cat([cache[1].detach(), v], dim=2)
        T = k.shape[2]
        visible = torch.arange(T, device=x.device) <= torch.arange(T - n, T, device=x.device)[:, None]
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = torch.matmul(q, k.transpose(2, 3)) / (d_model / self.n_heads) ** 0.5
        top = scores.masked_fill(~visible, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        e = torch.where(visible, torch.exp((scores - top).masked_fill(~visible, 0.0)), torch.zeros_like(scores))
        weights = e / e.sum(-1, keepdim=True).clamp(min=torch.finfo(e.dtype).tiny)
        out = torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous().view(B, n, d_model)
        return self.W_o(out), (k.detach(), v.detach())
