# family: core
# mistake: none
"""An epsilon of 1e-9 in the denominator."""


import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Self-attention of many heads."""

    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, H, S, d_head)."""
        batch, length, _ = x.shape
        x = x.reshape(batch, length, self.n_heads, self.d_head)  # (B, S, H, d_head)
        return x.transpose(1, 2)  # (B, H, S, d_head)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from every token of x (B, S, d_model) to all that the mask lets it see: (B, S, d_model)."""
        queries = self.split_heads(self.W_q(x))  # (B, H, S, d_head)
        keys = self.split_heads(self.W_k(x))  # (B, H, S, d_head)
        values = self.split_heads(self.W_v(x))  # (B, H, S, d_head)

        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, S, S)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (B, 1, S, S)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # a row of nothing but -inf came out as NaN

        context = self.dropout(weights) @ values  # (B, H, S, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, S, d_model)
        return self.W_o(context)


class FeedForward(nn.Module):
    """Two layers with a ReLU between them, position by position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, S, d_model)."""
        hidden = torch.relu(self.dense1(x))  # (B, S, d_ff)
        return self.dense2(hidden)  # (B, S, d_model)


class AddNorm(nn.Module):
    """The sum of what went into a sublayer and what came out of it, normalised."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ln(x + dropout(y)), x and y (B, S, d_model)."""
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    """Self-attention and a feed-forward network, each with dropout, sum and norm after it.

    d_model  width of the tokens
    n_heads  number of heads; d_model % n_heads != 0 raises ValueError
    d_ff     width of the hidden layer of the feed-forward network
    dropout  on the attention weights and on the output of both sublayers before the sum, in training
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Run a sequence through the block.

        x     (B, S, d_model)
        mask  bool, True = this key may be attended to: (S, S); (B, S, S), (B, 1, S) or (1, S, S);
              (B, H, S, S) or the same with ones for B, H or the queries; None = everything is visible

        Returns (B, S, d_model). A token that may attend to nothing gets a context of 0.
        """
        y = self.addnorm1(x, self.attention(x, mask))  # (B, S, d_model)
        return self.addnorm2(y, self.ffn(y))  # (B, S, d_model)
