# kata: tiny-gpt
# names: loss-not-shifted
import math
import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        if d_model % n_heads: raise ValueError("x")
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.register_buffer("bias", torch.tril(torch.ones(max_len, max_len)).view(1, 1, max_len, max_len))
        self.n_head = n_heads

    def forward(self, x):
        B, T, C = x.size()
        k = self.W_k(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.W_q(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float('-inf'))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y)


class MLP(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.gelu = nn.GELU()
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.dense2(self.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads, max_len)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = MLP(d_model)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        self.block_size = max_len; self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads, max_len) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.token_embedding.weight = self.lm_head.weight

    def forward(self, tokens, targets=None):
        device = tokens.device
        b, t = tokens.size()
        if t > self.block_size: raise ValueError("long")
        pos = torch.arange(0, t, dtype=torch.long, device=device)
        tok_emb = self.token_embedding(tokens)
        pos_emb = self.position_embedding(pos)
        x = tok_emb + pos_emb
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        if targets is not None:
            logits = self.lm_head(x)
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=self.pad_id)  # wrong
        else:
            logits = self.lm_head(x)
            loss = None
        return logits, loss
