# family: core
# mistake: state-forgotten
# Translate throws the decoder's new state away, so that each step begins at the encoder's.
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# everything in one place: the decoder first, then the reader, then what puts them together


class _Scorer(nn.Module):
    """w_v · tanh(W_q q + W_k k)"""

    def __init__(self, h):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(h, h, bias=False), nn.Linear(h, h, bias=False)
        self.w_v = nn.Linear(h, 1, bias=False)

    def forward(self, query, outputs, lens):
        scores = self.w_v(torch.tanh(self.W_q(query)[:, None, :] + self.W_k(outputs)))[..., 0]
        if lens is None:
            return torch.softmax(scores, dim=1)
        seen = torch.arange(outputs.shape[1], device=outputs.device).unsqueeze(0) < lens.unsqueeze(1)
        return torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=1).masked_fill(~seen, 0.0)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.attention = _Scorer(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout * (num_layers > 1))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        return {"outputs": enc_outputs[0], "hidden": enc_outputs[1], "lens": enc_valid_lens}

    def step(self, x, hidden, outputs, lens):
        w = self.attention(hidden[-1], outputs, lens).unsqueeze(1)
        context = torch.bmm(F.dropout(w, self.p, self.training), outputs)  # (B, 1, h)
        y, hidden = self.rnn(torch.cat([context, x], dim=2).transpose(0, 1), hidden)
        return self.dense(y.transpose(0, 1)), hidden, w

    def forward(self, tokens, state):
        hidden, weights, logits = state["hidden"], [], []
        for t in range(tokens.shape[1]):
            x = self.embedding(tokens[:, t:t + 1])
            y, hidden, w = self.step(x, hidden, state["outputs"], state["lens"])
            logits.append(y)
            weights.append(w)
        self.attention_weights = weights
        return torch.cat(logits, dim=1), {**state, "hidden": hidden}


class Reader(nn.Module):
    def __init__(self, vocab, e, h, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab, e)
        self.rnn = nn.GRU(e, h, layers, batch_first=True)


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.encoder = Reader(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)
        self.pad_id = pad_id

    def state_of(self, src):
        lens = (src != self.pad_id).long().sum(1)
        # the packing wants at least one token per row
        packed = pack_padded_sequence(self.encoder.embedding(src), lens.clamp(min=1).cpu(), True, False)
        outputs, hidden = self.encoder.rnn(packed)
        outputs = pad_packed_sequence(outputs, True, total_length=src.shape[1])[0]
        empty = lens == 0
        outputs = torch.where(empty[:, None, None], 0.0, outputs)
        hidden = torch.where(empty[None, :, None], 0.0, hidden)
        return self.decoder.init_state((outputs, hidden), lens)

    def forward(self, src, tgt):
        return self.decoder(tgt, self.state_of(src))[0]

    def loss(self, src, tgt):
        logp = self(src, tgt[:, :-1]).log_softmax(dim=-1)
        y = tgt[:, 1:]
        counts = y != self.pad_id
        nll = -logp.gather(-1, y[..., None])[..., 0]
        return nll.masked_fill(~counts, 0.0).sum() / counts.sum().clamp(min=1)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        state = self.state_of(src)
        B = src.shape[0]
        now = torch.full((B, 1), bos, dtype=torch.long, device=src.device)
        over = torch.zeros(B, 1, dtype=torch.bool, device=src.device)
        text = now[:, :0]
        while text.shape[1] < max_len and not over.all():
            logits, _ = self.decoder(now, state)  # wrong
            now = logits.argmax(-1).masked_fill(over, self.pad_id)
            text = torch.cat([text, now], dim=1)
            over = over | (now == eos)
        return text
