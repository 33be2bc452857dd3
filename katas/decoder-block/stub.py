"""One decoder block of the Transformer, with a cache for its self-attention."""

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention over the memory, feed-forward; each with dropout, sum and norm after it.

    d_model  width of the tokens and of the memory
    n_heads  number of heads; d_model % n_heads != 0 raises ValueError
    d_ff     width of the hidden layer of the feed-forward network
    dropout  on the attention weights and on the output of each sublayer before the sum, in training

    Attributes: self_attn and cross_attn with W_q, W_k, W_v, W_o (nn.Linear with bias, d_model to d_model each),
    ffn with dense1 and dense2 (nn.Linear, ReLU between them), norm1, norm2, norm3 (nn.LayerNorm).
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: two attentions, a feed-forward network, three norms")

    def forward(
        self, x: Tensor, memory: Tensor, cache: Cache | None = None, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """Run the new tokens through the block.

        x            (B, n, d_model), the new tokens: the last n of T
        memory       (B, m, d_model), the encoder's output
        cache        (keys, values) of the self-attention for the T - n tokens before, each (B, H, T - n, d_head),
                     T - n may be 0; None = there are none
        memory_mask  bool, True = this position of the memory may be attended to: (n, m); (B, n, m), (B, 1, m) or
                     (1, n, m); (B, H, n, m) or the same with ones for B, H or n

        Returns the output (B, n, d_model) and the cache of all T tokens, (keys, values), each (B, H, T, d_head):
        W_k(x) and W_v(x) of the self-attention, split into heads and otherwise as they are.
        """
        raise NotImplementedError("your turn: self-attention, cross-attention, feed-forward")
