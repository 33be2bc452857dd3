import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(x, n):
    return F.layer_norm(x, x.shape[-1:], n.weight, n.bias, n.eps)


def attention(x, a, n_heads):
    B, S, D = x.shape
    w = torch.cat([a.W_q.weight, a.W_k.weight, a.W_v.weight])
    b = torch.cat([a.W_q.bias, a.W_k.bias, a.W_v.bias])
    q, k, v = F.linear(x, w, b).view(B, S, 3, n_heads, D // n_heads).permute(2, 0, 3, 1, 4)
    s = q @ k.transpose(-2, -1) / (D // n_heads) ** 0.5
    s.masked_fill_(~torch.ones_like(s, dtype=torch.bool).tril(), float("-inf"))
    out = torch.empty_like(x)
    out.copy_((s.softmax(-1) @ v).transpose(1, 2).reshape(B, S, D))
    return a.W_o(out)


def holder(**children):
    m = nn.Module()
    for name, child in children.items():
        m.add_module(name, child)
    return m


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        if d_model % n_heads:
            raise ValueError("d_model must be a multiple of n_heads")
        super().__init__()
        L, d = nn.Linear, d_model
        self.n_heads, self.max_len, self.pad_id = n_heads, max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d)
        self.position_embedding = nn.Embedding(max_len, d)
        self.blocks = nn.ModuleList(
            holder(
                norm1=nn.LayerNorm(d),
                attention=holder(W_q=L(d, d), W_k=L(d, d), W_v=L(d, d), W_o=L(d, d)),
                norm2=nn.LayerNorm(d),
                ffn=holder(dense1=L(d, 4 * d), dense2=L(4 * d, d)),
            )
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d)

    def forward(self, tokens, targets=None):
        if tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        x = F.embedding(tokens, self.token_embedding.weight)
        x = x + self.position_embedding.weight.narrow(0, 0, tokens.shape[1])
        for b in self.blocks:
            x = x + attention(layer_norm(x, b.norm1), b.attention, self.n_heads)
            x = x + b.ffn.dense2(F.gelu(b.ffn.dense1(layer_norm(x, b.norm2))))
        logits = layer_norm(x, self.norm) @ self.token_embedding.weight.mT
        loss = None
        if targets is not None:
            z = logits[:, :-1]
            y = targets[:, 1:]
            nll = z.logsumexp(-1) - z.gather(2, y[..., None])[..., 0]
            keep = y.ne(self.pad_id)
            loss = nll.masked_fill(~keep, 0.0).sum() / keep.sum()
        return logits, loss
