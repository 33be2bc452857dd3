# family: mask
# mistake: none
import torch
from torch import nn


def masked_softmax(X, valid_lens):
    """X: (B, n, T), valid_lens: (B,) or None."""
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    keep = torch.arange(X.shape[-1], device=X.device)[None, None, :] < valid_lens[:, None, None]
    weights = nn.functional.softmax(X.masked_fill(~keep, float("-inf")), dim=-1)
    return torch.where(keep, weights, torch.zeros_like(weights))


class AdditiveAttention(nn.Module):
    def __init__(self, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs, hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]

    @property
    def attention_weights(self):
        return self._attention_weights


class Reader(nn.Module):
    def __init__(self, vocab, embed, hiddens, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.GRU(embed, hiddens, layers, batch_first=True)

    def forward(self, src, lengths):
        x = self.embedding(src)
        hidden = x.new_zeros(self.rnn.num_layers, len(src), self.rnn.hidden_size)
        seen = []
        for t in range(src.shape[1]):
            out, new = self.rnn(x[:, t : t + 1], hidden)
            hidden = new
            seen.append(out)
        return torch.cat(seen, 1), hidden


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.pad_id = pad_id
        self.encoder = Reader(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def begin(self, src):
        lengths = src.ne(self.pad_id).sum(-1)
        return self.decoder.init_state(self.encoder(src, lengths), None)

    def forward(self, src, tgt):
        return self.decoder(tgt, self.begin(src))[0]

    def loss(self, src, tgt):
        logits = self(src, tgt[:, :-1])
        return nn.functional.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=self.pad_id)

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
