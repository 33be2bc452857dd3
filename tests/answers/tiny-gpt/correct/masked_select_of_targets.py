import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=True)
        self.W_k = nn.Linear(d_model, d_model, bias=True)
        self.W_v = nn.Linear(d_model, d_model, bias=True)
        self.W_o = nn.Linear(d_model, d_model, bias=True)

    def forward(self, x):
        B, S, _ = x.shape
        fold = lambda t: t.view(B, S, self.n_heads, self.d_head).transpose(1, 2).reshape(-1, S, self.d_head)
        q, k, v = fold(self.W_q(x) * self.d_head**-0.5), fold(self.W_k(x)), fold(self.W_v(x))
        rows = torch.arange(S, device=x.device)
        out = torch.baddbmm(torch.zeros_like(q[:, :, :1]).expand(-1, -1, S), q, k.transpose(1, 2), beta=0)
        out = out.masked_fill(rows[None, :] > rows[:, None], float("-inf")).softmax(2)
        out = torch.bmm(out, v).view(B, self.n_heads, S, self.d_head).transpose(1, 2).flatten(-2)
        return self.W_o(out)


class TransformerLayer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Module()
        self.ffn.dense1 = nn.Linear(d_model, 4 * d_model)
        self.ffn.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        h = x + self.attention(self.norm1(x))
        return h + self.ffn.dense2(F.gelu(self.ffn.dense1(self.norm2(h))))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError("n_heads does not divide d_model")
        self.pad_id, self.max_len = pad_id, max_len
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(TransformerLayer(d_model, n_heads))
        self.norm = nn.LayerNorm(d_model, eps=1e-5)

    def embed(self, tokens):
        if tokens.size(1) > self.max_len:
            raise ValueError(f"at most {self.max_len} tokens")
        return self.token_embedding(tokens) + self.position_embedding.weight[: tokens.size(1)]

    def forward(self, tokens, targets=None):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        logits = torch.matmul(self.norm(x), self.token_embedding.weight.t())
        if targets is None:
            return logits, None
        counts = targets[:, 1:] != self.pad_id
        return logits, F.cross_entropy(logits[:, :-1][counts], targets[:, 1:][counts])
