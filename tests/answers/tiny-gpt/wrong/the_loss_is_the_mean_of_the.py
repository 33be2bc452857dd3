# family: core
# mistake: loss-mean-of-texts
# The loss is the mean of the means of the texts, not the mean over all targets of the batch.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    """nanoGPT, but with separate projections."""

    def __init__(self, n_embd, n_head):
        super().__init__()
        if n_embd % n_head != 0:
            raise ValueError("n_embd % n_head != 0")
        self.n_head = n_head
        self.W_q = nn.Linear(n_embd, n_embd)
        self.W_k = nn.Linear(n_embd, n_embd)
        self.W_v = nn.Linear(n_embd, n_embd)
        self.W_o = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.size()
        k = self.W_k(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.W_q(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        tril = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        att = att.masked_fill(~tril, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y)


class MLP(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.dense1 = nn.Linear(n_embd, 4 * n_embd)
        self.gelu = nn.GELU()
        self.dense2 = nn.Linear(4 * n_embd, n_embd)

    def forward(self, x):
        return self.dense2(self.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.norm1 = nn.LayerNorm(n_embd)
        self.attention = CausalSelfAttention(n_embd, n_head)
        self.norm2 = nn.LayerNorm(n_embd)
        self.ffn = MLP(n_embd)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.block_size = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def _loss(self, logits, targets):
        want = targets[:, 1:]
        each = F.cross_entropy(logits[:, :-1].transpose(1, 2), want, reduction="none")
        counts = want != self.pad_id
        each = each.masked_fill(~counts, 0.0)
        per_text = each.sum(dim=1) / counts.sum(dim=1).clamp(min=1)
        return per_text.mean()  # wrong

    def forward(self, tokens, targets=None):
        b, t = tokens.size()
        if t > self.block_size:
            raise ValueError(f"Cannot forward sequence of length {t}, block size is only {self.block_size}")
        pos = torch.arange(0, t, dtype=torch.long, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(pos)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        logits = x @ self.token_embedding.weight.t()
        loss = None if targets is None else self._loss(logits, targets)
        return logits, loss
