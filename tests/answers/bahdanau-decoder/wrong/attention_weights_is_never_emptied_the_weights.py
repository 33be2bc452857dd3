# family: core
# mistake: weights-pile-up
# Attention_weights is never emptied: the weights of earlier calls stay in the list.
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class DecoderState(NamedTuple):
    outputs: Tensor
    visible: Tensor
    hidden: Tensor


class Attention(nn.Module):
    def __init__(self, h: int, dropout: float) -> None:
        super().__init__()
        self.W_q = nn.Linear(h, h, bias=False)
        self.W_k = nn.Linear(h, h, bias=False)
        self.w_v = nn.Linear(h, 1, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, query: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        scores = self.w_v(torch.tanh(self.W_q(query)[:, None] + self.W_k(state.outputs)))  # (B, T, 1)
        scores = scores.transpose(1, 2)
        weights = scores.masked_fill(~state.visible, float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(~state.visible, 0.0)
        return (self.drop(weights) @ state.outputs)[:, 0], weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = Attention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        between = dropout if num_layers > 1 else 0.0
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=between)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None) -> DecoderState:
        outputs, hidden = enc_outputs
        B, T, _ = outputs.shape
        if enc_valid_lens is None:
            visible = outputs.new_ones((B, 1, T), dtype=torch.bool)
        else:
            lens = enc_valid_lens.to(outputs.device).view(B, 1, 1)
            visible = torch.arange(T, device=outputs.device).view(1, 1, T) < lens
        return DecoderState(outputs, visible, hidden)

    def forward(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits = []
        for embedded in self.embedding(tokens).unbind(dim=1):
            context, weights = self.attention(state.hidden[-1], state)
            self.attention_weights.append(weights)  # wrong
            joined = torch.cat([context, embedded], dim=-1)
            out, hidden = self.rnn(joined[None], state.hidden.contiguous())
            state = state._replace(hidden=hidden)
            logits.append(self.dense(out[0]))
        return torch.stack(logits, dim=1), state
