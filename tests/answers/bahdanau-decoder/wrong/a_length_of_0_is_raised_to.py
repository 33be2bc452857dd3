# family: core
# mistake: none
# A length of 0 is raised to 1, so that an empty sentence attends to its first padding.
"""Bahdanau decoder with a dataclass for a state."""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class DecoderState:
    memory: Tensor  # (B, T, h)
    padding: Tensor  # (B, T), True = padding
    hidden: Tensor  # (num_layers, B, h)


class Attention(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        for name, width in (("W_q", size), ("W_k", size), ("w_v", 1)):
            setattr(self, name, nn.Linear(size, width, bias=False))

    def forward(self, query: Tensor, keys: Tensor, padding: Tensor) -> Tensor:
        scores = self.w_v(torch.tanh(self.W_q(query)[:, None, :] + self.W_k(keys)))[..., 0]
        all_padding = padding.all(dim=1, keepdim=True)
        scores = scores.masked_fill(padding & ~all_padding, -torch.inf)
        return F.softmax(scores, dim=1).masked_fill(padding, 0.0)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = Attention(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        between = dropout if num_layers > 1 else 0.0
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=between)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.weight_dropout = nn.Dropout(dropout)
        self.attention_weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> DecoderState:
        outputs, hidden = enc_outputs
        batch, length = outputs.shape[:2]
        if enc_valid_lens is None:
            enc_valid_lens = torch.full((batch,), length, device=outputs.device)
        lens = enc_valid_lens.to(outputs.device).clamp(min=1)  # wrong
        padding = torch.arange(length, device=outputs.device).unsqueeze(0) >= lens.unsqueeze(1)
        return DecoderState(outputs.masked_fill(padding[..., None], 0.0), padding, hidden)

    def forward(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        self.attention_weights = []
        steps, hidden = [], state.hidden
        for emb in self.embedding(tokens).unbind(dim=1):
            weights = self.attention(hidden[-1], state.memory, state.padding).unsqueeze(1)
            self.attention_weights.append(weights)
            context = torch.bmm(self.weight_dropout(weights), state.memory).squeeze(1)
            out, hidden = self.rnn(torch.cat([context, emb], dim=1)[None], hidden)
            steps.append(out)
        logits = self.dense(torch.cat(steps)).transpose(0, 1)
        return logits, replace(state, hidden=hidden)
