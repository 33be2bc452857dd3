import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.W_q = nn.Linear(size, size, bias=False)
        self.W_k = nn.Linear(size, size, bias=False)
        self.w_v = nn.Linear(size, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, keys, lengths):
        scores = self.w_v(torch.tanh(self.W_q(query).unsqueeze(1).expand_as(keys) + self.W_k(keys))).squeeze(2)
        if lengths is not None:
            padding = torch.arange(keys.size(1), device=keys.device).expand_as(scores) >= lengths.unsqueeze(1)
            scores[padding] = float("-inf")
        weights = torch.softmax(scores, dim=1)
        if lengths is not None:
            weights = weights.masked_fill(padding, 0)
        return torch.bmm(self.dropout(weights).unsqueeze(1), keys), weights.unsqueeze(1)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.vocab_size = vocab_size
        self.attention = Attention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens):
        return [*enc_outputs, enc_valid_lens]

    def forward(self, tokens, state):
        keys, hidden, lengths = state
        batch, steps = tokens.shape
        logits = torch.empty(batch, steps, self.vocab_size, dtype=keys.dtype, device=keys.device)
        self.attention_weights = [None] * steps
        for i, token in enumerate(self.embedding(tokens).split(1, dim=1)):
            context, self.attention_weights[i] = self.attention(hidden[-1], keys, lengths)
            output, hidden = self.rnn(torch.cat([context, token], 2).transpose(0, 1).contiguous(), hidden)
            logits[:, i] = self.dense(output.squeeze(0))
        return logits, [keys, hidden, lengths]
