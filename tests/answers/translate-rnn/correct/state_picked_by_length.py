# every state is kept, the right one gathered; nll_loss; recursion in inference mode
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


class Encoder(nn.Module):
    """Reads everything, keeps every state, and picks the one behind the last real token."""

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, lengths):
        steps = self.embedding(src.t())
        state = steps.new_zeros(self.rnn.num_layers, src.size(0), self.rnn.hidden_size)
        outputs, states = [], [state]
        for step in steps:
            output, state = self.rnn(step[None], state)
            outputs.append(output[0])
            states.append(state)
        history = torch.stack(states)
        at = lengths.view(1, 1, -1, 1).expand(1, *state.shape)
        return torch.stack(outputs, dim=1), history.gather(0, at).squeeze(0)


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def begin(self, src):
        lengths = src.ne(self.pad_id).sum(-1)
        return self.decoder.init_state(self.encoder(src, lengths), lengths)

    def forward(self, src, tgt):
        return self.decoder(tgt, self.begin(src))[0]

    def loss(self, src, tgt):
        log_p = nn.functional.log_softmax(self.forward(src, tgt[:, :-1]), -1)
        wanted = tgt[:, 1:].flatten()
        each = nn.functional.nll_loss(log_p.flatten(0, 1), wanted, reduction="none")
        real = wanted.ne(self.pad_id).to(each.dtype)
        return (each * real).sum().div(real.sum())

    def translate(self, src, bos, eos, max_len):
        def go_on(token, state, done, left):
            logits, state = self.decoder(token, state)
            best = logits.topk(1, dim=-1).indices.squeeze(-1)
            shown = torch.where(done, torch.full_like(best, self.pad_id), best)
            done = done.logical_or(best.eq(eos))
            if left == 1 or bool(done.all()):
                return [shown]
            return [shown, *go_on(best, state, done, left - 1)]

        with torch.inference_mode():
            state = self.begin(src)
            first = torch.full((len(src), 1), bos, dtype=torch.int64, device=src.device)
            return torch.hstack(go_on(first, state, torch.zeros_like(first).bool(), max_len))
