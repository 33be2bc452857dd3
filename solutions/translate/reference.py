"""The whole way from a pair of sentences to a translation: a Transformer, its loss, greedy decoding.

    loss = mean over the real target tokens of -log p(y_t | y_<t, x),    y_t = argmax p(y | y_<t, x)

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3 and figure 1; teacher forcing as in
Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks" (arXiv:1409.3215), section 2.
"""

import torch
from torch import Tensor, nn
from transformer import Transformer


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
        self.pad_id = pad_id
        self.transformer = Transformer(
            src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, max_len=max_len, pad_id=pad_id
        )

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        return self.transformer(src, tgt)

    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the mean cross entropy of all target tokens behind the first, padding left out: a scalar.

        src  (B, m), padded with pad_id
        tgt  (B, n), each row begins with a token that is given and not predicted; padded with pad_id
        """
        logits = self(src, tgt[:, :-1])
        expected = tgt[:, 1:]
        log_probabilities = torch.log_softmax(logits, dim=-1)
        surprise = -log_probabilities.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
        is_real = expected != self.pad_id
        return surprise.masked_fill(~is_real, 0.0).sum() / is_real.sum()

    @torch.no_grad()
    def translate(self, src: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
        """Greedy translation: the most probable token, again and again.

        Returns int64 (B, t), t at most max_len: the tokens that were written, bos not among them; eos where a row has
        ended, pad_id behind it. Writing stops when every row has ended.
        """
        memory, memory_mask = self.transformer.encode(src)
        token = torch.full_like(src[:, :1], bos)  # (B, 1)
        ended = torch.zeros_like(token, dtype=torch.bool)  # (B, 1)
        cache, written = None, []
        while len(written) < max_len and not ended.all():
            logits, cache = self.transformer.decode(token, memory, memory_mask, cache)
            token = logits.argmax(dim=-1)  # (B, 1)
            written.append(token.masked_fill(ended, self.pad_id))
            ended = ended | (token == eos)
        return torch.cat(written, dim=1)  # (B, t)
