"""A language model in one file: embeddings, blocks of causal attention and feed-forward, head and loss.

    x = E[tokens] + P[0 .. S-1];   x = x + MHA(LN(x)), x = x + FFN(LN(x)) in each block;   logits = LN(x) E^T
    loss = mean over t of -log softmax(logits_t)[targets_{t+1}], without targets that are padding

Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (GPT-2), section 2.3; the shared weight as in
Press and Wolf 2017, "Using the Output Embedding to Improve Language Models" (arXiv:1608.05859).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which a token sees itself and the tokens before it."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, H, S, d_head)."""
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)  # (B, S, H, d_head)
        return x.transpose(1, 2)  # (B, H, S, d_head)

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, S, d_model)."""
        queries = self.split_heads(self.W_q(x))  # (B, H, S, d_head)
        keys = self.split_heads(self.W_k(x))  # (B, H, S, d_head)
        values = self.split_heads(self.W_v(x))  # (B, H, S, d_head)

        length = x.size(1)
        visible = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()  # (S, S)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, S, S)
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (B, H, S, S)

        context = weights @ values  # (B, H, S, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, S, d_model)
        return self.W_o(context)


class FeedForward(nn.Module):
    """Two layers with a GELU between them, position by position."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, S, d_model)."""
        hidden = F.gelu(self.dense1(x))  # (B, S, 4 * d_model)
        return self.dense2(hidden)  # (B, S, d_model)


class Block(nn.Module):
    """Attention and feed-forward, each on the normalised stream and added to it."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, S, d_model)."""
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    """Predict the next token at each position of a text.

    vocab_size  number of different tokens
    d_model     width of the model
    n_heads     number of heads; d_model % n_heads != 0 raises ValueError
    n_layers    number of blocks
    max_len     number of positions; a longer text raises ValueError
    pad_id      the token that the loss leaves out

    Attributes: token_embedding and position_embedding (nn.Embedding), blocks (nn.ModuleList), norm (nn.LayerNorm).
    A block has norm1, attention (W_q, W_k, W_v, W_o), norm2, ffn (dense1, dense2).
    """

    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.max_len = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Return the logits of the next token at each position, and the loss where there are targets.

        tokens   int64, (B, S)
        targets  int64, (B, S): what stands at the same positions, in training usually the tokens themselves;
                 position t is to predict targets[:, t + 1], and targets equal to pad_id do not count

        Returns logits (B, S, vocab_size), and the mean cross entropy of the targets that count, or None.
        """
        length = tokens.size(1)
        if length > self.max_len:
            raise ValueError(f"{length} tokens are more than max_len {self.max_len}")

        positions = torch.arange(length, device=tokens.device)  # (S,)
        x = self.token_embedding(tokens) + self.position_embedding(positions)  # (B, S, d_model)
        for block in self.blocks:
            x = block(x)  # (B, S, d_model)
        logits = F.linear(self.norm(x), self.token_embedding.weight)  # (B, S, vocab_size)

        loss = None
        if targets is not None:
            predictions = logits[:, :-1].flatten(0, 1)  # (B * (S - 1), vocab_size)
            following = targets[:, 1:].flatten()  # (B * (S - 1),)
            loss = F.cross_entropy(predictions, following, ignore_index=self.pad_id)
        return logits, loss
