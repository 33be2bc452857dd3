# family: core
# mistake: none
# The second residual starts from the normalised tokens, post-norm slipped into a pre-norm block.
import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu


def causal_attention(q, k, v):
    S = q.size(-2)
    scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
    hidden = torch.triu(torch.ones(S, S, dtype=torch.bool, device=q.device), diagonal=1)
    return scores.masked_fill(hidden, float("-inf")).softmax(dim=-1) @ v


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        parts = zip(*(w(x).split(self.d_head, dim=-1) for w in (self.W_q, self.W_k, self.W_v)))
        return self.W_o(torch.cat([causal_attention(q, k, v) for q, k, v in parts], dim=-1))


class FeedForward(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.dense2(gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = MultiHead(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h)
        h = self.norm2(x)
        return h + self.ffn(h)  # wrong


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads does not divide d_model")
        self.max_len = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, targets=None):
        n = tokens.shape[1]
        if n > self.max_len:
            raise ValueError("too long")
        x = self.token_embedding(tokens)
        x = x + self.position_embedding(torch.arange(n, device=tokens.device))
        for b in self.blocks:
            x = b(x)
        logits = torch.einsum("bsd,vd->bsv", self.norm(x), self.token_embedding.weight)
        if targets is None:
            return logits, None
        target = targets[:, 1:].reshape(-1)
        keep = target != self.pad_id
        guess = logits[:, :-1].flatten(0, 1)
        return logits, cross_entropy(guess[keep], target[keep])
