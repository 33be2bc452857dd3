# padding keeps the state by arithmetic; log p by hand; a growing prefix
from typing import NamedTuple

import torch
from torch import Tensor, nn


class DecoderState(NamedTuple):
    hidden: Tensor
    memory: Tensor
    bias: Tensor
    seen: Tensor


class AdditiveAttention(nn.Module):
    """The softmax in at least float32."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, seen):
        hidden = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        scores = self.w_v(hidden)[..., 0]
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        top = wide.masked_fill(~seen, torch.finfo(wide.dtype).min).amax(-1, keepdim=True)
        parts = torch.exp(torch.where(seen, wide - top, float("-inf")))
        weights = (parts / parts.sum(-1, keepdim=True).masked_fill(~seen.any(-1, keepdim=True), 1.0)).to(scores.dtype)
        return self.dropout(weights) @ values, weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers=num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        memory, hidden = enc_outputs
        length = memory.size(1)
        if enc_valid_lens is None:
            seen = memory.new_ones(memory.size(0), 1, length, dtype=torch.bool)
        else:
            seen = (enc_valid_lens.unsqueeze(-1) > torch.arange(length, device=memory.device)).unsqueeze(1)
        return DecoderState(hidden, memory, memory.new_zeros(1), seen)

    def step(self, token, state):
        context, weights = self.attention(state.hidden[-1:].transpose(0, 1), state.memory, state.memory, state.seen)
        fed = torch.cat([context.transpose(0, 1), self.embedding(token).unsqueeze(0)], dim=2)
        out, hidden = self.rnn(fed, state.hidden)
        return out, weights, state._replace(hidden=hidden)

    def forward(self, tokens, state):
        outs, kept = [], []
        for t in range(tokens.shape[1]):
            out, weights, state = self.step(tokens[:, t], state)
            outs.append(out)
            kept.append(weights)
        self.attention_weights = kept
        return self.dense(torch.cat(outs).movedim(0, 1)), state


class Encoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, lengths):
        x, hidden, outputs = self.embedding(src).transpose(0, 1), None, []
        for t, token in enumerate(x):
            output, new = self.rnn(token.unsqueeze(0), hidden)
            real = (lengths > t).to(new.dtype)[None, :, None]
            hidden = real * new if hidden is None else real * new + (1 - real) * hidden
            outputs.append(output.squeeze(0) * real[0])
        return torch.stack(outputs, 1), hidden


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
        given, wanted = tgt[:, :-1], tgt[:, 1:]
        z = self(src, given)
        chosen = torch.take_along_dim(z, wanted[..., None], dim=-1)[..., 0]
        minus_log_p = torch.logsumexp(z, dim=-1) - chosen
        real = wanted != self.pad_id
        return torch.where(real, minus_log_p, torch.zeros_like(minus_log_p)).sum() / torch.count_nonzero(real)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        state = self.begin(src)
        prefix = torch.ones_like(src[:, :1]) * bos
        ended = torch.zeros(src.size(0), 1, dtype=torch.bool, device=src.device)
        for _ in range(max_len):
            logits, state = self.decoder(prefix[:, -1:], state)
            token = torch.max(logits, dim=2)[1]
            prefix = torch.cat((prefix, token * ~ended + self.pad_id * ended), 1)
            ended = ended | (token == eos)
            if ended.all():
                break
        return prefix[:, 1:]
