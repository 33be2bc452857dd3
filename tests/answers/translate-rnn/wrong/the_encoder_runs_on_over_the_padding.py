# family: core
# mistake: padding-moves-the-state
# The encoder runs on over the padding, so the hidden state is not the one after the last real token.
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

State = Any


class AdditiveAttention(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """query (B, h), keys = W_k outputs and values (B, T, h), mask (B, T)."""
        features = torch.tanh(self.W_q(query).unsqueeze(1) + keys)
        scores = self.w_v(features).squeeze(-1)
        scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0).unsqueeze(1)
        return torch.bmm(self.dropout(weights), values), weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0.0
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> State:
        outputs, hidden = enc_outputs
        B, T, _ = outputs.shape
        if enc_valid_lens is None:
            mask = torch.ones(B, T, dtype=torch.bool, device=outputs.device)
        else:
            mask = torch.arange(T, device=outputs.device) < enc_valid_lens[:, None]
        outputs = outputs.masked_fill(~mask.unsqueeze(-1), 0.0)
        return outputs, self.attention.W_k(outputs), mask, hidden

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        outputs, keys, mask, hidden = state
        embedded = self.embedding(tokens)
        steps, self.attention_weights = [], []
        for t in range(tokens.shape[1]):
            context, weights = self.attention(hidden[-1], keys, outputs, mask)
            self.attention_weights.append(weights)
            x = torch.cat((context, embedded[:, t : t + 1]), dim=-1)
            out, hidden = self.rnn(x.transpose(0, 1), hidden)
            steps.append(out.transpose(0, 1))
        return self.dense(torch.cat(steps, dim=1)), (outputs, keys, mask, hidden)


class Encoder(nn.Module):
    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers, batch_first=True)

    def forward(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        outputs, hidden = self.rnn(self.embedding(src))  # wrong
        empty = lengths == 0
        return outputs.masked_fill(empty[:, None, None], 0.0), hidden.masked_fill(empty[None, :, None], 0.0)


class Translator(nn.Module):
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
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def read(self, src: Tensor) -> State:
        lengths = (src != self.pad_id).sum(dim=1)
        return self.decoder.init_state(self.encoder(src, lengths), lengths)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        logits, _ = self.decoder(tgt, self.read(src))
        return logits

    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:
        if tgt.shape[1] < 2:
            return self.decoder.dense.weight.sum() * 0.0
        logits = self(src, tgt[:, :-1])
        wanted = tgt[:, 1:]
        wide = torch.promote_types(logits.dtype, torch.float32)
        total = F.cross_entropy(
            logits.to(wide).transpose(1, 2), wanted, ignore_index=self.pad_id, reduction="sum"
        )
        return (total / (wanted != self.pad_id).sum().clamp(min=1)).to(logits.dtype)

    @torch.no_grad()
    def translate(self, src: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
        B = src.shape[0]
        state = self.read(src)
        token = torch.full((B, 1), bos, dtype=torch.int64, device=src.device)
        ended = torch.zeros(B, 1, dtype=torch.bool, device=src.device)
        written = [token[:, :0]]
        for _ in range(max_len):
            logits, state = self.decoder(token, state)
            token = logits.argmax(dim=-1).masked_fill(ended, self.pad_id)
            written.append(token)
            ended = ended | (token == eos)
            if ended.all():
                break
        return torch.cat(written, dim=1)
