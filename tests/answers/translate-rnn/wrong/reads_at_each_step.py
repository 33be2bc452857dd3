# family: cost
# mistake: source-again
import torch
from torch import nn
import torch.nn.functional as F


class AdditiveAttention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.W_q = nn.Linear(h, h, bias=False)
        self.W_k = nn.Linear(h, h, bias=False)
        self.w_v = nn.Linear(h, 1, bias=False)

    def forward(self, q, keys, values, keep):
        scores = self.w_v(torch.tanh(self.W_q(q)[:, :, None] + self.W_k(keys)[:, None])).squeeze(-1)
        w = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=-1).masked_fill(~keep, 0.0)
        return w @ values, w


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        pos = torch.arange(outputs.size(1), device=outputs.device)
        if enc_valid_lens is None:
            keep = torch.ones_like(outputs[:, :, 0], dtype=torch.bool)
        else:
            keep = pos < enc_valid_lens[:, None]
        return outputs, hidden, keep[:, None, :]

    def forward(self, tokens, state):
        outputs, hidden, keep = state
        weights, logits = [], []
        for x in self.embedding(tokens).unbind(1):
            context, w = self.attention(hidden[-1][:, None], outputs, outputs, keep)
            weights.append(w)
            out, hidden = self.rnn(torch.cat([context[:, 0], x], -1)[None], hidden)
            logits.append(self.dense(out[0]))
        self.attention_weights = weights
        return torch.stack(logits, 1), (outputs, hidden, keep)


class Encoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, real):
        x = self.embedding(src)
        h = x.new_zeros(self.rnn.num_layers, src.size(0), self.rnn.hidden_size)
        outs = []
        for t in range(src.size(1)):
            o, new = self.rnn(x[:, t][None], h)
            h = torch.where(real[:, t][None, :, None], new, h)
            outs.append(o[0])
        return torch.stack(outs, 1), h


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)
        self.pad_id = pad_id

    def read(self, src):
        real = src != self.pad_id
        return self.decoder.init_state(self.encoder(src, real), real.sum(1))

    def forward(self, src, tgt):
        return self.decoder(tgt, self.read(src))[0]

    def loss(self, src, tgt):
        logits = self(src, tgt[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=self.pad_id)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        state = self.read(src)
        token = torch.full_like(src[:, :1], bos)
        ended = torch.zeros_like(token, dtype=torch.bool)
        written = []
        while len(written) < max_len and not ended.all():
            o, h, k = self.read(src)
            logits, (_, hid, _) = self.decoder(token, (o, state[1], k))
            state = (o, hid, k)
            token = logits.argmax(-1)
            written.append(token.masked_fill(ended, self.pad_id))
            ended = ended | (token == eos)
        return torch.cat(written, dim=1)
