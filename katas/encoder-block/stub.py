"""One encoder block of the Transformer."""

import torch
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    """Self-attention and a feed-forward network, each with dropout, sum and norm after it.

    d_model  width of the tokens
    n_heads  number of heads; d_model % n_heads != 0 raises ValueError
    d_ff     width of the hidden layer of the feed-forward network
    dropout  on the attention weights and on the output of both sublayers before the sum, in training

    Attributes: attention with W_q, W_k, W_v, W_o (nn.Linear with bias, d_model to d_model each),
    ffn with dense1 and dense2 (nn.Linear, ReLU between them), addnorm1 and addnorm2 with ln (nn.LayerNorm) each.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: an attention, a feed-forward network, two sums with norms")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Run a sequence through the block.

        x     (B, S, d_model)
        mask  bool, True = this key may be attended to: (S, S); (B, S, S), (B, 1, S) or (1, S, S);
              (B, H, S, S) or the same with ones for B, H or the queries; None = everything is visible

        Returns (B, S, d_model). A token that may attend to nothing gets a context of 0.
        """
        raise NotImplementedError("your turn: attention, add and norm, feed-forward, add and norm")
