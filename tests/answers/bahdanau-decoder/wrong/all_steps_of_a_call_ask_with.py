# family: core
# mistake: query-never-renewed
# All steps of a call ask with the hidden state from before the call; the query is taken once, before the loop.
import torch
from torch import nn


class AdditiveScore(nn.Module):
    def __init__(self, h, dropout):
        super().__init__()
        self.W_q = nn.Linear(h, h, bias=False)
        self.W_k = nn.Linear(h, h, bias=False)
        self.w_v = nn.Linear(h, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, outputs, seen):
        scores = self.w_v(torch.tanh(self.W_q(query) + self.W_k(outputs))).transpose(1, 2)
        none = ~seen.any(-1, keepdim=True)
        scores = scores.masked_fill(~seen, float("-inf")).masked_fill(none, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(~seen, 0.0)
        return self.dropout(weights) @ outputs, weights


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0.0):
        super().__init__()
        self.attention = AdditiveScore(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, dropout=dropout if num_layers > 1 else 0)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        B, T, _ = outputs.shape
        if enc_valid_lens is None:
            seen = torch.ones(B, 1, T, dtype=torch.bool, device=outputs.device)
        else:
            seen = (torch.arange(T, device=outputs.device) < enc_valid_lens.to(outputs.device)[:, None])[:, None]
        outputs = outputs.masked_fill(~seen.transpose(1, 2), 0.0)
        return outputs, hidden, seen

    def forward(self, tokens, state):
        outputs, hidden, seen = state
        embedded = self.embedding(tokens).transpose(0, 1)
        self.attention_weights = []
        results = []
        query = hidden[-1].unsqueeze(1)  # wrong
        for x in embedded:
            context, weights = self.attention(query, outputs, seen)
            self.attention_weights.append(weights)
            x = torch.cat((context.squeeze(1), x), dim=-1)
            out, hidden = self.rnn(x.unsqueeze(0), hidden)
            results.append(self.dense(out[0]))
        return torch.stack(results, dim=1), (outputs, hidden, seen)
