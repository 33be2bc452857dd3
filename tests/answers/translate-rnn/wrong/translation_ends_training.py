# family: core
# mistake: translation-ends-training
# A translation leaves the model in evaluation mode.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.W_q = nn.Linear(h, h, bias=False)
        self.W_k = nn.Linear(h, h, bias=False)
        self.w_v = nn.Linear(h, 1, bias=False)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        return (outputs, self.attention.W_k(outputs), hidden, enc_valid_lens)

    def forward(self, tokens, state):
        outputs, keys, hidden, lens = state
        T = outputs.shape[1]
        visible = None
        if lens is not None:
            visible = torch.arange(T, device=outputs.device)[None] < lens[:, None]
        self.attention_weights = []
        hs = []
        for t, emb in enumerate(self.embedding(tokens).unbind(1)):
            q = self.attention.W_q(hidden[-1])
            scores = self.attention.w_v(torch.tanh(q[:, None] + keys)).squeeze(-1)
            if visible is None:
                weights = scores.softmax(-1)
            else:
                dead = ~visible.any(-1, keepdim=True)
                s = scores.masked_fill(~visible, float("-inf")).masked_fill(dead, 0.0)
                weights = s.softmax(-1).masked_fill(~visible, 0.0)
            self.attention_weights.append(weights[:, None])
            context = torch.bmm(self.dropout(weights)[:, None], outputs)[:, 0]
            out, hidden = self.rnn(torch.cat([context, emb], -1)[None], hidden)
            hs.append(out[0])
        logits = self.dense(torch.stack(hs, 1))
        return logits, (outputs, keys, hidden, lens)


class Encoder(nn.Module):
    def __init__(self, vocab, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, lens):
        emb = self.embedding(src).transpose(0, 1)
        packed = nn.utils.rnn.pack_padded_sequence(emb, lens.clamp(min=1).cpu(), enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, total_length=src.shape[1])
        hidden = hidden * (lens > 0).to(hidden.dtype)[:, None]
        return outputs.transpose(0, 1), hidden


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)
        self.pad_id = pad_id

    def read(self, src):
        lens = (src != self.pad_id).sum(1)
        return self.decoder.init_state(self.encoder(src, lens), lens)

    def forward(self, src, tgt):
        return self.decoder(tgt, self.read(src))[0]

    def loss(self, src, tgt):
        logits = self.forward(src, tgt[:, :-1])
        goal = tgt[:, 1:]
        return F.cross_entropy(logits.flatten(0, 1), goal.flatten(), ignore_index=self.pad_id)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        self.eval()  # wrong
        state = self.read(src)
        token = torch.full((src.shape[0], 1), bos, dtype=torch.int64, device=src.device)
        done = torch.zeros_like(token, dtype=torch.bool)
        written = []
        for _ in range(max_len):
            logits, state = self.decoder(token, state)
            best = logits.argmax(-1)
            token = best.masked_fill(done, self.pad_id)
            written.append(token)
            done = done | (best == eos)
            token = best
            if done.all():
                break
        return torch.cat(written, 1)
