# family: core
# mistake: attention-added-to-the-norm
# The attention is added to the normed tokens instead of to the tokens.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, S, d = x.shape
        q, k, v = (W(x).view(B, S, self.n_heads, self.d_head).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        scores = q @ k.transpose(-2, -1) / self.d_head**0.5
        future = torch.ones(S, S, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, S, d))


class FeedForward(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x):
        h = self.norm1(x)
        x = h + self.attention(h)  # wrong
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.max_len, self.pad_id = max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        S = tokens.shape[1]
        if S > self.max_len:
            raise ValueError(f"{S} tokens are more than {self.max_len}")
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(S, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.token_embedding.weight.T
        if targets is None:
            return logits, None
        predicted, wanted = logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten()
        return logits, F.cross_entropy(predicted, wanted, ignore_index=self.pad_id)
