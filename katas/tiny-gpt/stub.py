"""A language model in one file: embeddings, blocks of causal attention and feed-forward, head and loss."""

import torch
from torch import Tensor, nn


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
        raise NotImplementedError("your turn: embeddings, blocks, the last norm")

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Return the logits of the next token at each position, and the loss where there are targets.

        tokens   int64, (B, S)
        targets  int64, (B, S): what stands at the same positions, in training usually the tokens themselves;
                 position t is to predict targets[:, t + 1], and targets equal to pad_id do not count

        Returns logits (B, S, vocab_size), and the mean cross entropy of the targets that count, or None.
        """
        raise NotImplementedError("your turn: embed, go through the blocks, compare with the next tokens")
