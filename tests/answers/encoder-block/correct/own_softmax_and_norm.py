import torch
from torch import nn


def stable_softmax(scores, visible):
    """Softmax over the visible scores only; 0 where there are none."""
    lowest = torch.finfo(scores.dtype).min
    top = scores.masked_fill(~visible, lowest).amax(-1, keepdim=True).detach()
    parts = torch.exp(torch.where(visible, scores - top, torch.zeros_like(scores))) * visible
    return parts / parts.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        var, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
        return ((wide - mean) * (var + 1e-5).rsqrt()).to(x.dtype) * self.weight + self.bias


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln, self.drop = Norm(d), nn.Dropout(p)

    def forward(self, x, sublayer):
        return self.ln(x + self.drop(sublayer(x)))


class SelfAttention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        if d % heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        b, s, d = x.shape
        q = (self.W_q(x) / (d // self.heads) ** 0.5).reshape(b, s, self.heads, -1).permute(0, 2, 1, 3)
        k = self.W_k(x).reshape(b, s, self.heads, -1).permute(0, 2, 3, 1)
        v = self.W_v(x).reshape(b, s, self.heads, -1).permute(0, 2, 1, 3)
        if mask is None:
            mask = torch.ones(1, 1, s, s, dtype=torch.bool, device=x.device)
        elif mask.ndim == 3:
            mask = mask[:, None]
        scores = torch.matmul(q, k)
        weights = stable_softmax(scores, mask.expand(scores.shape))
        return self.W_o(torch.matmul(self.drop(weights), v).permute(0, 2, 1, 3).reshape(b, s, d))


class FFN(nn.Sequential):
    def __init__(self, d, f):
        super().__init__()
        self.add_module("dense1", nn.Linear(d, f))
        self.add_module("relu", nn.ReLU())
        self.add_module("dense2", nn.Linear(f, d))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = SelfAttention(d_model, n_heads, dropout)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff)

    def forward(self, x, mask=None):
        x = self.addnorm1(x, lambda tokens: self.attention(tokens, mask))
        return self.addnorm2(x, self.ffn)
