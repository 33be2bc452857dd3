from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class State:
    """Everything that does not change is computed once for a sentence."""

    keys: Tensor
    values: Tensor
    keep: Tensor | None
    hidden: Tensor


class Scorer(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.W_q = nn.Linear(width, width, bias=False)
        self.W_k = nn.Linear(width, width, bias=False)
        self.w_v = nn.Linear(width, 1, bias=False)
        self.rate = rate

    def forward(self, query, state):
        energy = torch.tanh(self.W_q(query)[:, None] + state.keys) @ self.w_v.weight[0]
        if state.keep is None:
            return energy.softmax(-1)
        energy = torch.where(state.keep, energy, torch.finfo(energy.dtype).min)
        return energy.softmax(-1) * state.keep


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0.0):
        super().__init__()
        self.attention = Scorer(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = None

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        keep = None
        if enc_valid_lens is not None:
            keep = torch.arange(outputs.shape[1], device=outputs.device).lt(enc_valid_lens.unsqueeze(1))
        return State(self.attention.W_k(outputs), outputs, keep, hidden)

    def forward(self, tokens, state):
        logits, self.attention_weights = [], []
        for t in range(tokens.size(1)):
            weights = self.attention(state.hidden[-1], state)
            dropped = nn.functional.dropout(weights, self.attention.rate, self.training)
            context = torch.einsum("bt,bth->bh", dropped, state.values)
            fed = torch.cat((context, self.embedding(tokens[:, t])), dim=1)[None]
            out, hidden = self.rnn(fed, state.hidden)
            state = replace(state, hidden=hidden)
            logits.append(self.dense(out[0]))
            self.attention_weights.append(weights.unsqueeze(1))
        return torch.stack(logits, dim=1), state
