"""The whole way from a pair of sentences to a translation, recurrently: a GRU reads, one with attention writes.

    h_t = GRU(embedding(x_t), h_{t-1}),    loss = mean over the real target tokens of -log p(y_t | y_<t, x)

Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate" (arXiv:1409.0473),
sections 2 and 3; reading in one direction as in Zhang et al., "Dive into Deep Learning" (arXiv:2106.11342), 11.4.
"""

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor, Tensor | None]


class AdditiveAttention(nn.Module):
    """Scores w_vᵀ tanh(W_q q + W_k k), without biases; dropout acts on the weights, in training only."""

    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return output and weights (before dropout); both are 0 for a query that may attend to nothing."""
        hidden = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))  # (B, 1, T, num_hiddens)
        scores = self.w_v(hidden).squeeze(-1)  # (B, 1, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN
        return self.dropout(weights) @ values, weights


class Seq2SeqAttentionDecoder(nn.Module):
    """Predict the next token from the tokens so far and from what attention finds in the encoder's outputs.

    vocab_size   number of tokens there are
    embed_size   width of their embeddings
    num_hiddens  width of the hidden states, the encoder's and the decoder's
    num_layers   number of layers of the GRU
    dropout      acts on the attention weights and between the layers of the GRU, in training only

    Attributes: attention (W_q, W_k, w_v without biases), embedding, rnn (nn.GRU, sequence first), dense, and
    attention_weights: the weights of the last call, a list with a tensor (B, 1, T) for each step.
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        between_layers = dropout if num_layers > 1 else 0.0
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=between_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> State:
        """Return the state in which decoding begins.

        enc_outputs     (outputs (B, T, num_hiddens), hidden (num_layers, B, num_hiddens)) of the encoder
        enc_valid_lens  (B,), how many of the T outputs are no padding; None = all
        """
        outputs, hidden = enc_outputs
        if enc_valid_lens is None:
            return outputs, hidden, None
        positions = torch.arange(outputs.size(1), device=outputs.device)  # (T,)
        mask = positions < enc_valid_lens[:, None, None]  # (B, 1, T)
        return outputs, hidden, mask

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (B, S, vocab_size) for tokens (B, S), and the state in which the next call goes on."""
        outputs, hidden, mask = state
        embedded = self.embedding(tokens)  # (B, S, embed_size)
        self.attention_weights = []
        steps = []
        for token in embedded.unbind(dim=1):
            query = hidden[-1].unsqueeze(1)  # (B, 1, num_hiddens)
            context, weights = self.attention(query, outputs, outputs, mask)
            both = torch.cat([context.squeeze(1), token], dim=-1)  # (B, num_hiddens + embed_size)
            output, hidden = self.rnn(both.unsqueeze(0), hidden)  # (1, B, num_hiddens), (num_layers, B, num_hiddens)
            self.attention_weights.append(weights)
            steps.append(output)
        logits = self.dense(torch.cat(steps).transpose(0, 1))  # (B, S, vocab_size)
        return logits, (outputs, hidden, mask)


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
