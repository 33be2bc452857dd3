# family: core
# mistake: none
# The loss is divided by the number of all real target tokens, the given first ones included.
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import rnn as packing


class State(NamedTuple):
    outputs: Tensor
    keys: Tensor
    hidden: Tensor
    keep: Tensor | None


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = nn.ModuleDict(
            {
                "W_q": nn.Linear(num_hiddens, num_hiddens, bias=False),
                "W_k": nn.Linear(num_hiddens, num_hiddens, bias=False),
                "w_v": nn.Linear(num_hiddens, 1, bias=False),
            }
        )
        self.embedding = nn.Embedding(vocab_size, embed_size)
        between = dropout if num_layers > 1 else 0.0
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=between)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> State:
        outputs, hidden = enc_outputs
        keep = None
        if enc_valid_lens is not None:
            keep = torch.arange(outputs.size(1), device=outputs.device)[None] < enc_valid_lens[:, None]
        return State(outputs, self.attention["W_k"](outputs), hidden, keep)

    def _look(self, query: Tensor, state: State) -> Tensor:
        scores = self.attention["w_v"]((self.attention["W_q"](query)[:, None] + state.keys).tanh()).squeeze(-1)
        if state.keep is not None:
            scores = torch.where(state.keep, scores, -torch.inf)
        weights = scores.softmax(-1)
        if state.keep is not None:
            weights = weights.masked_fill(~state.keep, 0)
        self.attention_weights.append(weights[:, None])
        return torch.einsum("bt,bth->bh", self.dropout(weights), state.outputs)

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        self.attention_weights = []
        embedded = self.embedding(tokens)
        tops = []
        for t in range(tokens.size(1)):
            step = torch.cat([self._look(state.hidden[-1], state), embedded[:, t]], dim=1)
            top, hidden = self.rnn(step[None], state.hidden)
            state = state._replace(hidden=hidden)
            tops.append(top)
        return self.dense(torch.cat(tops).transpose(0, 1)), state


class Encoder(nn.Module):
    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers, batch_first=True)

    def forward(self, src: Tensor, lens: Tensor) -> tuple[Tensor, Tensor]:
        packed = packing.pack_padded_sequence(
            self.embedding(src), lens.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        outputs, hidden = self.rnn(packed)
        outputs, _ = packing.pad_packed_sequence(outputs, batch_first=True, total_length=src.size(1))
        nothing = lens.eq(0).unsqueeze(-1)
        return outputs.masked_fill(nothing.unsqueeze(-1), 0), hidden.masked_fill(nothing, 0)


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
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)
        self.pad_id = pad_id

    def _begin(self, src: Tensor) -> State:
        lens = src.ne(self.pad_id).sum(-1)
        return self.decoder.init_state(self.encoder(src, lens), lens)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        logits, _ = self.decoder(tgt, self._begin(src))
        return logits

    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:
        nll = nn.functional.cross_entropy(
            self(src, tgt[:, :-1]).transpose(1, 2), tgt[:, 1:], ignore_index=self.pad_id, reduction="none"
        )
        return nll.sum() / tgt.ne(self.pad_id).sum().clamp(min=1)  # wrong

    def translate(self, src: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
        with torch.no_grad():
            state = self._begin(src)
            token = torch.full_like(src[:, :1], bos, dtype=torch.int64)
            alive = torch.ones_like(token, dtype=torch.bool)
            out = []
            for _ in range(max_len):
                logits, state = self.decoder(token, state)
                token = torch.where(alive, logits.argmax(-1), self.pad_id)
                out.append(token)
                alive = alive & (token != eos)
                if not alive.any():
                    break
            return torch.cat(out, dim=1)
