import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        y = y - y.mean(-1, keepdim=True)
        y = y / torch.sqrt((y * y).mean(-1, keepdim=True) + self.eps)
        return y.to(x.dtype) * self.weight + self.bias


def softmax_over_visible(scores, visible):
    if visible is None:
        visible = torch.ones_like(scores, dtype=torch.bool)
    visible = visible.expand(scores.shape)
    lowest = torch.finfo(scores.dtype).min
    top = scores.masked_fill(~visible, lowest).amax(dim=-1, keepdim=True).detach()
    e = torch.exp(torch.where(visible, scores - top, torch.full_like(scores, float("-inf"))))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


class MHA(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("indivisible")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.reshape(x.size(0), -1, self.n_heads, self.d_head).swapaxes(1, 2)

    def forward(self, x, k, v, visible):
        q = self.split(self.W_q(x)) / self.d_head**0.5
        weights = self.dropout(softmax_over_visible(q @ k.swapaxes(-1, -2), visible))
        return self.W_o((weights @ v).swapaxes(1, 2).reshape(x.shape))


class Grown(nn.Module):
    """Writes old and new into one fresh tensor."""

    def forward(self, old, new):
        whole = new.new_empty(new.size(0), new.size(1), old.size(2) + new.size(2), new.size(3))
        whole[:, :, : old.size(2)] = old
        whole[:, :, old.size(2) :] = new
        return whole


class FeedForward(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.add_module("dense1", nn.Linear(d_model, d_ff))
        self.add_module("act", nn.ReLU())
        self.add_module("dense2", nn.Linear(d_ff, d_model))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = MHA(d_model, n_heads, dropout)
        self.cross_attn = MHA(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = Norm(d_model), Norm(d_model), Norm(d_model)
        self.grow = Grown()
        self.drop1, self.drop2, self.drop3 = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        k = self.self_attn.split(self.self_attn.W_k(x))
        v = self.self_attn.split(self.self_attn.W_v(x))
        if cache is not None:
            k, v = self.grow(cache[0], k), self.grow(cache[1], v)
        T, n = k.shape[2], x.shape[1]
        causal = torch.tril(torch.ones((T, T), dtype=torch.bool, device=x.device))[T - n :]
        x = self.norm1(x + self.drop1(self.self_attn(x, k, v, causal)))
        if memory_mask is not None and memory_mask.ndim == 3:
            memory_mask = memory_mask.unsqueeze(1)
        mk = self.cross_attn.split(self.cross_attn.W_k(memory))
        mv = self.cross_attn.split(self.cross_attn.W_v(memory))
        x = self.norm2(x + self.drop2(self.cross_attn(x, mk, mv, memory_mask)))
        return self.norm3(x + self.drop3(self.ffn(x))), (k, v)
