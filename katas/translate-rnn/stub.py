"""English to French: your own recurrent decoder with attention, an encoder for it, the loss, and greedy translation."""

import torch
from torch import Tensor, nn

# Your Seq2SeqAttentionDecoder stands above this line: `kata start translate-rnn` copies it from your answer to the kata
# bahdanau-decoder as soon as that has passed.


class Translator(nn.Module):
    """A recurrent encoder and decoder that learn from pairs and translate.

    src_vocab_size, tgt_vocab_size  numbers of source and of target tokens
    embed_size, num_hiddens, num_layers  of encoder and decoder alike
    pad_id    the padding token of source and target, only ever behind the real ones

    Attributes: encoder, a module with embedding (nn.Embedding) and rnn (nn.GRU); decoder, the Seq2SeqAttentionDecoder.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        embed_size: int,
        num_hiddens: int,
        num_layers: int,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        raise NotImplementedError("your turn: an encoder and the decoder")

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        raise NotImplementedError("your turn: read the source, then ask the decoder")

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
