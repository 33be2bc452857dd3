# family: core
# mistake: none
# The lengths of the sources are not handed to the decoder, which attends to padding as well.
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class AdditiveAttention(nn.Module):
    def __init__(self, num_hiddens, dropout):
        super().__init__()
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, keys, outputs, hidden_places):
        # query (B, h), keys and outputs (B, T, h), hidden_places (B, T) or None
        scores = self.w_v(torch.tanh(self.W_q(query).unsqueeze(1) + keys)).transpose(1, 2)  # (B, 1, T)
        if hidden_places is None:
            weights = scores.softmax(dim=-1)
        else:
            hidden_places = hidden_places.unsqueeze(1)
            weights = scores.masked_fill(hidden_places, float("-inf")).softmax(dim=-1)
            weights = weights.masked_fill(hidden_places, 0.0)
        return (self.dropout(weights) @ outputs).squeeze(1), weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        return outputs, hidden, enc_valid_lens

    def forward(self, tokens, state):
        outputs, hidden, lens = state
        places = torch.arange(outputs.shape[1], device=outputs.device)
        behind = None if lens is None else places >= lens.unsqueeze(1)
        keys = self.attention.W_k(outputs)
        self.attention_weights = []
        steps = []
        for x in self.embedding(tokens).unbind(dim=1):
            context, weights = self.attention(hidden[-1], keys, outputs, behind)
            self.attention_weights.append(weights)
            out, hidden = self.rnn(torch.cat((context, x), dim=-1).unsqueeze(0), hidden)
            steps.append(self.dense(out[0]))
        return torch.stack(steps, dim=1), (outputs, hidden, lens)


class Encoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size, num_hiddens, num_layers)

    def forward(self, src, lens):
        x = self.embedding(src).transpose(0, 1)  # (m, B, embed_size)
        packed = pack_padded_sequence(x, lens.clamp(min=1).cpu(), enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(outputs, total_length=src.shape[1])
        # a source of nothing but padding was read as one token: forget it
        hidden = hidden.masked_fill((lens == 0)[None, :, None], 0.0)
        outputs = outputs.masked_fill((lens == 0)[None, :, None], 0.0)
        return outputs.transpose(0, 1), hidden


class Translator(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, embed_size, num_hiddens, num_layers, pad_id=0):
        super().__init__()
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, embed_size, num_hiddens, num_layers)
        self.decoder = Seq2SeqAttentionDecoder(tgt_vocab_size, embed_size, num_hiddens, num_layers)

    def read(self, src: Tensor):
        lens = (src != self.pad_id).sum(dim=1)
        return self.decoder.init_state(self.encoder(src, lens), None)  # wrong

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return self.decoder(tgt, self.read(src))[0]

    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:
        wanted = tgt[:, 1:]
        logits = self(src, tgt[:, :-1])
        total = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=self.pad_id, reduction="sum")
        return total / (wanted != self.pad_id).sum().clamp(min=1)

    @torch.no_grad()
    def translate(self, src: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
        state = self.read(src)
        token = torch.full((src.shape[0], 1), bos, dtype=torch.int64, device=src.device)
        done = torch.zeros_like(token, dtype=torch.bool)
        written = []
        for _ in range(max_len):
            logits, state = self.decoder(token, state)
            token = logits.argmax(dim=-1).masked_fill(done, self.pad_id)
            written.append(token)
            done = done | (token == eos)
            if done.all():
                break
        return torch.cat(written, dim=1)
