# family: core
# mistake: no-dropout-between-layers
# The GRU is made without its dropout, so nothing is dropped between the layers in training.
import torch
from torch import nn


class Seq2SeqAttentionDecoder(nn.Module):
    """The decoder of the first attention paper, terse."""

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        h = num_hiddens
        self.attention = nn.Module()
        self.attention.W_q = nn.Linear(h, h, bias=False)
        self.attention.W_k = nn.Linear(h, h, bias=False)
        self.attention.w_v = nn.Linear(h, 1, bias=False)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(h + embed_size, h, num_layers)  # wrong
        self.dense = nn.Linear(h, vocab_size)
        self.drop = nn.Dropout(dropout)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        return enc_outputs[0], enc_outputs[1], enc_valid_lens

    def _look(self, query, outputs, mask):
        a = self.attention
        hidden = torch.tanh(a.W_q(query)[:, None] + a.W_k(outputs))
        e = torch.einsum("bth,h->bt", hidden, a.w_v.weight[0])
        e = torch.where(mask, e, -torch.inf)
        e = torch.where(mask.any(1, keepdim=True), e, 0.0)
        return torch.where(mask, torch.softmax(e, 1), 0.0)

    def forward(self, tokens, state):
        outputs, hidden, lens = state
        T = outputs.shape[1]
        where = torch.arange(T, device=outputs.device)[None].expand(outputs.shape[0], T)
        mask = where < (T if lens is None else lens.to(outputs.device)[:, None])
        outputs_seen = torch.where(mask[..., None], outputs, 0.0)
        self.attention_weights, logits = [], []
        for s in range(tokens.shape[1]):
            w = self._look(hidden[-1], outputs_seen, mask)
            self.attention_weights.append(w[:, None])
            context = torch.einsum("bt,bth->bh", self.drop(w), outputs_seen)
            step = torch.cat((context, self.embedding(tokens[:, s])), 1)
            y, hidden = self.rnn(step[None], hidden)
            logits.append(self.dense(y[0]))
        return torch.stack(logits, 1), (outputs, hidden, lens)
