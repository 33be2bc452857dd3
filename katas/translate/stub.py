"""English to French: your own Transformer, its loss, and greedy translation."""

import torch
from torch import Tensor, nn

# Your Transformer stands above this line: `kata start translate` copies it from your answer to the kata transformer
# as soon as that has passed.


class Translator(nn.Module):
    """A Transformer without dropout that learns from pairs and translates.

    src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, max_len  as in the kata transformer
    pad_id    the padding token of source and target

    Attribute: transformer, the Transformer.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        max_len: int = 50,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        raise NotImplementedError("your turn: the Transformer")

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        raise NotImplementedError("your turn: ask the Transformer")

    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the mean cross entropy of all target tokens behind the first, padding left out: a scalar.

        src  (B, m), padded with pad_id
        tgt  (B, n), each row begins with a token that is given and not predicted; padded with pad_id
        """
        raise NotImplementedError("your turn: teacher forcing, then the mean over what is no padding")

    def translate(self, src: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
        """Greedy translation: the most probable token, again and again.

        Returns int64 (B, t), t at most max_len: the tokens that were written, bos not among them; eos where a row has
        ended, pad_id behind it. Writing stops when every row has ended.
        """
        raise NotImplementedError("your turn: read once, then write token by token")
