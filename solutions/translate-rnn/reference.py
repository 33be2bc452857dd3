"""The whole way from a pair of sentences to a translation, recurrently: a GRU reads, one with attention writes.

    h_t = GRU(embedding(x_t), h_{t-1}),    loss = mean over the real target tokens of -log p(y_t | y_<t, x)

Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate" (arXiv:1409.0473),
sections 2 and 3; reading in one direction as in Zhang et al., "Dive into Deep Learning" (arXiv:2106.11342), 11.4.
"""

import torch
from bahdanau_decoder import Seq2SeqAttentionDecoder, State
from torch import Tensor, nn


class Encoder(nn.Module):
    """A GRU that reads the source; padding leaves its hidden state alone."""

    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, pad_id: int) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor]:
        """Return outputs (B, T, num_hiddens) and hidden (num_layers, B, num_hiddens) behind the last real token."""
        embedded = self.embedding(src)  # (B, T, embed_size)
        is_real = src != self.pad_id  # (B, T)
        sizes = (self.rnn.num_layers, src.size(0), self.rnn.hidden_size)
        hidden = embedded.new_zeros(sizes)  # (num_layers, B, num_hiddens)
        outputs = []
        for token, real in zip(embedded.unbind(dim=1), is_real.unbind(dim=1), strict=True):
            output, after = self.rnn(token.unsqueeze(0), hidden)  # (1, B, num_hiddens), (num_layers, B, num_hiddens)
            hidden = torch.where(real[:, None], after, hidden)  # (num_layers, B, num_hiddens)
            outputs.append(output)
        return torch.cat(outputs).transpose(0, 1), hidden


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
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers, pad_id)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def read(self, src: Tensor) -> State:
        """Return the state in which decoding begins, given src (B, m)."""
        lengths = (src != self.pad_id).sum(dim=1)  # (B,)
        return self.decoder.init_state(self.encoder(src), lengths)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        logits, _ = self.decoder(tgt, self.read(src))
        return logits

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
        state = self.read(src)
        token = torch.full_like(src[:, :1], bos)  # (B, 1)
        ended = torch.zeros_like(token, dtype=torch.bool)  # (B, 1)
        written = []
        while len(written) < max_len and not ended.all():
            logits, state = self.decoder(token, state)
            token = logits.argmax(dim=-1)  # (B, 1)
            written.append(token.masked_fill(ended, self.pad_id))
            ended = ended | (token == eos)
        return torch.cat(written, dim=1)  # (B, t)
